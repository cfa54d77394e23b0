"""From scores to conclusions: which system is better, and how sure are we."""
