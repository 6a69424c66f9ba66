"""From a graph to code: binding, scheduling and lowering are shared, every language only prints the program.

graph --bind--> Bound --schedule--> Step, ... --lower--> Program --llvm, c--> text
"""
