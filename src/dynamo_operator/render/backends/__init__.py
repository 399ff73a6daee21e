"""How each inference backend is launched; one contract, one registry."""
