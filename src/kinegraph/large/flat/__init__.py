"""A mechanism with numbers for its parameters as flat arrays."""
