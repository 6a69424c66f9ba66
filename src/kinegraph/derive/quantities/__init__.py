"""What can be asked of a mechanism, and how a request is derived."""
