"""What a text with markup says: blocks, plain text and links, from Markdown, reStructuredText, HTML and AsciiDoc."""
