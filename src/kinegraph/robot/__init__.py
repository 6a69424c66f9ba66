"""`kg.robot`: the everyday object of a robot, and the orders of its coordinates in other programs."""
