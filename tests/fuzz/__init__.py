"""The fuzzer: `make fuzz CASES=200000 SEED=1`.

It lives with the tests, not in the package: it feeds on their data, has nothing to measure for users, and tells a
developer what to mend. Every case is made of (subject, seed, number) alone, so that each can be run again.
"""
