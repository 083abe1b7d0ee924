"""The graph alone, for documents that live in a store of the user's: in an SQLite file or in PostgreSQL."""
