"""The model language: records and statements, read and written."""
