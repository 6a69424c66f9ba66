"""Whether a mechanism is well described: every complaint says where, what was found, and what to write instead."""
