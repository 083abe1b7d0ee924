"""Where documents live: in a file, or in stores that Haystack has integrations for."""
