"""Arrays in files that many processes map at once."""
