"""The graph in PostgreSQL."""
