"""The values that the core speaks; they do not depend on an API version."""
