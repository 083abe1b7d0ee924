"""Documents from files: Markdown, plain text, JSON Lines and CSV."""
