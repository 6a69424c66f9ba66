"""`python -m kinegraph` is the same as `kinegraph`."""

import sys

try:
    from kinegraph.cli import main

    main()
except KeyboardInterrupt:  # while everything is still being imported; commands see to it themselves
    sys.exit(130)
