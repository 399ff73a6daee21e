"""Tests of the api part."""
