"""Reading models, values and expressions back."""
