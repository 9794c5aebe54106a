"""The layers and losses, one family a file."""
