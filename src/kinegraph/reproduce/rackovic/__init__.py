"""Tables and models of the dissertation that take more than a few lines."""
