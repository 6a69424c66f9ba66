"""`python -m kinegraph.ahead`: the process that compiles. What to compile comes by standard input."""

import os
import pickle
import signal
import sys

from kinegraph.ahead.lean_numba import make_lean

signal.signal(signal.SIGINT, signal.SIG_IGN)
make_lean()
pickle.load(sys.stdin.buffer).compile_here()
os._exit(0)  # all files are written and closed; to free some million objects first takes a second
