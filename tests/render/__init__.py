"""Tests of the render part."""
