"""Models as assessors: they take the session's steps, and their replies come from a server of chat completions."""
