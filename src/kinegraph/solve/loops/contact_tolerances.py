"""Tolerances of contact decisions, shared by the compiled loops and Python."""

from __future__ import annotations

STILL = 1e-12  # of what a velocity is the sum of: zero
SUDDEN = 1e-14  # of the run: what forces bring about in this time is nothing
ACCUMULATED = 1e-11  # of the run: rebounds that are over within this time are not taken
RESOLVED = 16 * 2.2e-16  # of what a gap is the difference of: rebounds that stay below are not taken
UNRESOLVED = 5e-17  # the same for coordinates of size one, whose sines and sums are rounded
BELOW = 1e-12  # of what a gap is the difference of: it is closed
FLOOR = 1e-15  # and at least this
UNSEEN = 1e-13  # of what coordinates reach: a gap that their rounding hides
SHIFT = 1e-13  # of a state: how far it is moved to see what rounding does to forces
FORCE_MARGIN = 1e-11  # of forces: how far below zero one may be before its contact opens
CONE_MARGIN = 1e-10  # of squares of forces: how far outside of its cone friction may be before its contact slips
SLIP_ACCELERATION = 2e-12  # of accelerations along the surface: less is rounding
GAINED = 1e-9  # of the energy: impacts that gain more are against their law
CALM = 1e-13  # of the first speeds: slower closing is over
MOST_IMPACTS = 20_000  # one after the other, at one time
TIE = 1e-12  # ratios that differ by less than this part are equal
SMALL = 1e-11  # an entry of a column below this part of the largest is rounding
