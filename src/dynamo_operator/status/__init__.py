"""Facts in, status out; one file per kind."""
