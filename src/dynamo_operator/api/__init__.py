"""What users write: the custom resources, and the CRDs generated from them."""
