"""The assessors' side of the server: arriving, routes, static files."""
