"""Commands on where bodies are: poses and paths."""
