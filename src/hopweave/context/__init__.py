"""From hits to a cited context."""
