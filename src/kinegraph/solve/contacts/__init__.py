"""Contacts in a run: which are closed, what an impact does, and the phases between two such decisions."""
