"""From a mechanism to the exact graph of any of its quantities."""
