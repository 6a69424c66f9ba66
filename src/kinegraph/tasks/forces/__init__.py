"""Forces for a given motion, and what joints transmit."""
