"""One SQLite file with documents, indexes and graph."""
