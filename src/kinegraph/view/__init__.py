"""Things to look at: plots of solutions."""
