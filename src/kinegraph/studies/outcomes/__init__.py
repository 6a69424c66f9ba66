"""What is asked of every case: outputs along its run, and formulas over the whole run."""
