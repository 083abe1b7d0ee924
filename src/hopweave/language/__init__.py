"""Words, phrases and sentences of natural language."""
