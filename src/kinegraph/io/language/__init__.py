"""The model language: grammar, reader and writer."""

from __future__ import annotations
