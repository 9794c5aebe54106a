"""Whether a derivative is right, and what is wrong with one that is not."""
