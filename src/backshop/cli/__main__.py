"""`python -m backshop.cli`."""

import sys

from .main import main

sys.exit(main())
