"""The tasks of mechanics: each is one function, and one record that prints, plots and exports its result."""
