"""Runs of large mechanisms, by loops over bodies."""
