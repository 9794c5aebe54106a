"""`python -m gradwright` is `gradwright`."""

import sys

from gradwright.cli import main

if __name__ == "__main__":
    sys.exit(main())
