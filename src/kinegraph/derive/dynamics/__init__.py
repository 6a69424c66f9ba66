"""Forces, inertia matrices, accelerations and energy by the recursions of mechanics."""
