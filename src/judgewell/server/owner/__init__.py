"""The owner's side of the server: who may see what, the dashboard, acting on it, review, and the API."""
