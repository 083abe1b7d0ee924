"""Finding by connection."""
