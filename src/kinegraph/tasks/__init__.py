"""The tasks of mechanics. Each is one function, and one record that prints, plots and exports its result."""
