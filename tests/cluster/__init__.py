"""Tests against a real control plane."""
