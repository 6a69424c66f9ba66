"""The computation graph: what it is, how it is built, what it means, and the proof that two are equal."""
