"""Domain values in, manifests (plain dicts) out; pure."""
