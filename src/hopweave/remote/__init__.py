"""Calls to services on the network, and their keys."""
