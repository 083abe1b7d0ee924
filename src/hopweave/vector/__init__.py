"""Finding by meaning."""
