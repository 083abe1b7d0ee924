"""How a graph in PostgreSQL is written."""
