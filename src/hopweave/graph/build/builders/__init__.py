"""What one document says to the graph by itself."""
