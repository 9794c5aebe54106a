"""What compiled functions tell of themselves."""
