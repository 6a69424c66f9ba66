"""Rest and steady motion: balance equations, continua, pseudo-arclength continuation, bifurcations."""

from __future__ import annotations
