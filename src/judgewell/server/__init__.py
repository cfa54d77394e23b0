"""The judging server: people judge on a web page, under the study's checks, and nothing they do is lost."""
