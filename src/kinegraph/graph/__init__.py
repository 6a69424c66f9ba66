"""The computation graph: nodes, builder, interpreter, and the proof that two graphs are equal."""
