"""Running cases of a plan: where they start, how they are integrated, one of them again."""
