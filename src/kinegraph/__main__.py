"""`python -m kinegraph` is the same as `kinegraph`."""

from kinegraph.cli import main

main()
