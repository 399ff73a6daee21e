"""The kinds of objects that run pods; one contract, one registry."""
