"""Judging, comparing and tuning recipes."""
