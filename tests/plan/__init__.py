"""Tests of the plan part."""
