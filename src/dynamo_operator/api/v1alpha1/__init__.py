"""Version v1alpha1 of the API: one file per kind."""
