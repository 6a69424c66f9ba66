"""Equations for people: text, LaTeX, MathML."""
