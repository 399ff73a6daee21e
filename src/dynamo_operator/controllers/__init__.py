"""The shell: one package per kind that loads, applies and writes."""
