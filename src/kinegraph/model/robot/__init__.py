"""What robot files say about joints beyond rigid bodies."""
