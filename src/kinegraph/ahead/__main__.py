"""`python -m kinegraph.ahead`: the process that compiles. What to compile comes by standard input."""

import pickle
import signal
import sys

signal.signal(signal.SIGINT, signal.SIG_IGN)
pickle.load(sys.stdin.buffer).compile_here()
