"""Tolerances of contact decisions, shared by the compiled loops and Python."""

from __future__ import annotations

STILL = 1e-12  # of the terms of a velocity: less is zero
SUDDEN = 1e-14  # of the run: velocities that forces cause in this time are zero
ACCUMULATED = 1e-11  # of the run: rebounds that are over within this time are ignored
RESOLVED = 16 * 2.2e-16  # of the terms of a gap: lower rebounds are ignored
UNRESOLVED = 5e-17  # the same for coordinates of size one, whose sines and sums are rounded
BELOW = 1e-12  # of the terms of a gap: up to this it is closed
FLOOR = 1e-15  # and at least this
UNSEEN = 1e-13  # of the reach of coordinates: a gap that their rounding hides
SHIFT = 1e-13  # of a state: its shift that shows the effect of rounding on forces
FORCE_MARGIN = 1e-11  # of forces: a contact opens when its force is farther below zero
CONE_MARGIN = 1e-10  # of squared forces: a contact slips when its friction is farther outside the cone
SLIP_ACCELERATION = 2e-12  # of accelerations along the surface: less is rounding
GAINED = 1e-9  # of the energy: an impact must not gain more
CALM = 1e-13  # of the first speeds: slower closing is zero
MOST_IMPACTS = 20_000  # one after the other, at one time
TIE = 1e-12  # ratios that differ by less than this part are equal
SMALL = 1e-11  # an entry of a column below this part of the largest is rounding
