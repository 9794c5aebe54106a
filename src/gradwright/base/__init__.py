"""What everything else stands on: errors, dtypes, printing, what leans on CPython, the C compiler and its cache."""
