"""How long code would run, without running it."""
