"""The paper's statements besides its figures, each with a verdict and computed evidence."""
