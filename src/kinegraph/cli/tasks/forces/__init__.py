"""Commands on forces: unknown ones, those at rest, and what joints carry."""
