"""KiDyM's published counts of operations: what they may be counts of, tried systematically."""
