"""`python -m kinegraph.io.mjcf` prints the page that says what the reader does with every element and attribute."""

import sys

from kinegraph.io.mjcf.coverage import page

sys.stdout.write(page())
