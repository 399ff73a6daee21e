"""Tests of what happens when the API server, the network or the process fails."""
