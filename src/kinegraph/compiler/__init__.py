"""From a request to loaded code: each step is one function, each value between two steps a frozen record."""
