"""What a study costs: cases a second beside a plain SciPy loop, and the overhead of a cluster."""
