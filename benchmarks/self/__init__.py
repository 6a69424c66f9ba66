"""What the code itself measures: its sizes, and how long a user waits for a first result."""
