"""Tests of the operator; each folder mirrors one of the source tree, or says which whole it tests."""
