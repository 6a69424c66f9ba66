"""Fewer operations: each pass takes a graph and returns an equal one; `pipeline.reduce` runs and proves them all."""
