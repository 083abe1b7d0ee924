"""What keeps a file sound: checks, mends, and the exchange of its content."""
