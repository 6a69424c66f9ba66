"""`python -m kinegraph.ahead`: the process that compiles. What to compile comes by standard input."""

import gc
import pickle
import signal
import sys

# Numba makes millions of objects that stay: looking for cycles after every 700 of them takes a tenth of the time.
gc.set_threshold(100_000, 20, 20)
signal.signal(signal.SIGINT, signal.SIG_IGN)
pickle.load(sys.stdin.buffer).compile_here()
