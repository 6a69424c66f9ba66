"""The loops of the integrators: interpreted as they stand, or compiled."""
