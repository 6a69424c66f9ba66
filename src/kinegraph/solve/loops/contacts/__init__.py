"""Contacts in the loops of explicit methods: modes that are decided without leaving machine code."""
