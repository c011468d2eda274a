"""A priced Flower app in NumPy."""
