"""The paper reproduced: figures, claims and errata, beside the repaired mechanisms."""
