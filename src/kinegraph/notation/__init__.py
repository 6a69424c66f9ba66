"""Readable equations: plain text, LaTeX, MathML."""
