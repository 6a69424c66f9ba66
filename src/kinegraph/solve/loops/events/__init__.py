"""Events in a step, the same for every method: where a condition passes zero, what is recorded, and what acts.

Each condition is on one side of zero. The side, not the last value, says what a passage is: a state that was put on the
surface of an event (by the start of a run, or by a reset) has a value of any sign, for rounding decides it. There the
side comes from the slope. So a rebound that is over before the first look at the next step is found all the same.
"""
