"""Studies: many cases of one model, drawn at random or by design, run anywhere, each exactly once."""
