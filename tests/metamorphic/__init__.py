"""One mechanism described in several ways gives one answer, and so do several ways of evaluating it.

`mechanisms` draws random ones, `descriptions` writes them differently and says how states and results read then,
`facts` are the answers in terms of the first description.
"""
