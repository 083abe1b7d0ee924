"""The graph of hopweave in PostgreSQL: `GraphStore.open("postgresql://…")` finds it here."""

from hopweave_postgres.store import PostgresStore

__all__ = ["PostgresStore"]
