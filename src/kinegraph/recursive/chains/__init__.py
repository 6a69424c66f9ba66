"""Closed loops of any length: every chain is reduced to the body it hangs on, serially, on threads or on MPI ranks."""
