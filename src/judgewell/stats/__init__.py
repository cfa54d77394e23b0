"""Statistics that several stages share."""
