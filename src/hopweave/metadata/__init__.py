"""Reading metadata: filters and timestamps."""
