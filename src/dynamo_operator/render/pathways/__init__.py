"""The ways from a graph to pods; one contract, one registry."""
