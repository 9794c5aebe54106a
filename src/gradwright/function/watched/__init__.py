"""What watches a user's forward and backward, so that neither gives a wrong derivative without a word."""
