"""Commands that work with judged queries."""
