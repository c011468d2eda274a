"""A priced Flower app in PyTorch."""
