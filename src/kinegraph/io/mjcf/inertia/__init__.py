"""Mass and moments of inertia of bodies by MuJoCo's rules: stated, or from the geoms on them."""
