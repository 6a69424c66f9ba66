"""Questions to the database."""
