"""The algorithm of the document on docking mechanisms, as it stands there, formula by formula.

Legs are chains of joints with one degree of freedom; the ring's own six velocities are independent; every leg has loop
equations and an inertia matrix of its own. Ours (`derive/platforms`) is held against this, in numbers and in counts.
"""
