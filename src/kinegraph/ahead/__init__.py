"""Machine code that Numba makes: compiled ahead by a process of its own, stored on disk, loaded without interruption.

Numba's compiler cannot be interrupted: Ctrl-C arrives in functions that LLVM calls, where Python can only print it, and
what was being compiled stays behind half made. So a process that ignores Ctrl-C compiles, and the one the user looks at
waits, or does something useful meanwhile.
"""
