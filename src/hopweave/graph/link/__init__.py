"""Which nodes a question names."""
