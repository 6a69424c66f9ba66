"""A flat, mutable form of a graph made for factoring and search: integer literals, terms and coefficients."""
