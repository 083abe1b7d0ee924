"""What the file system tells of a knowledge base file, and what becomes of it when a process forks."""
