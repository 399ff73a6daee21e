"""A thin Kubernetes runtime that knows nothing of Dynamo."""
