"""How quantities are read off a derivation: one file a family, each function a row's `derive`."""
