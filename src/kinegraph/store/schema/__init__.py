"""The tables of the database, and how it is opened."""
