"""The mechanism as a tree of elementary joints: frames, displacements, kinematics."""
