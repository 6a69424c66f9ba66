"""Runs of mechanisms with contacts: the equations of their modes, and what is said of the contacts afterwards."""
