"""Writing and updating models in the database."""
