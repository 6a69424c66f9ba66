"""Contacts: their rows, the motion with some of them closed, and what an impact needs to know."""
