"""What each component type adds to a pod; one contract, one registry."""
