"""The ways from a graph to pods on a running cluster; one contract, one registry."""
