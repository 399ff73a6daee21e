"""Tests of the status part."""
