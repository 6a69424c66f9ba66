"""Parallel manipulators: legs in closed form, each reduced to a mass at its joint on the ring.

The six velocities of the ring are the only unknowns. What a leg does follows from its joint on the ring by square roots
(`struts.py`, `cranks.py`); no angles, no multipliers, nothing that drifts.
"""
