"""Springs, dampers, forces and other elements in the equations."""
