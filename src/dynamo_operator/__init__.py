"""Kubernetes operator for NVIDIA Dynamo inference graphs."""

__version__ = "0.1.0"
