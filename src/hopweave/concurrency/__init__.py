"""Threads and event loops."""
