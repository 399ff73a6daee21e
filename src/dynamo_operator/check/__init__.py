"""Spec and world in, domain values or violations out; one file per kind."""
