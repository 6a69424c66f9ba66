"""Springs, dampers, forces and their kin in the equations."""
