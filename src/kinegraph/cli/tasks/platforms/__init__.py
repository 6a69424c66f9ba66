"""The commands of platforms."""
