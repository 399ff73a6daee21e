"""The core run on files: read documents, validate them, render what would be applied; no cluster, no clock."""
