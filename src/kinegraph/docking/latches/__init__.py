"""Latches that hold, exactly by rows of constraints or by springs, and the impulses by which joints close."""
