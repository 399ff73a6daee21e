"""A local Kubernetes for development and tests: real control plane, simulated nodes (`python -m cluster --help`)."""
