"""How a graph in PostgreSQL is read."""
