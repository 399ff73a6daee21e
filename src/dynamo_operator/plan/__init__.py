"""Decisions over facts; pure."""
