"""Tasks on whole runs: derivatives of their results, parameters fitted to measurements, dimensions found."""
