"""Studies to look at: figures and one page."""
