"""CVODE of SUNDIALS: its C interface and what it calls back."""
