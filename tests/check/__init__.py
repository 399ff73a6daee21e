"""Tests of the check part."""
