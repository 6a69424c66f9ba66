"""Loops cut at other joints than the model closes them with: the same motion from another tree."""
