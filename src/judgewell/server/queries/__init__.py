"""What was collected, read from the database: standing answers, unit endings, progress, history, export."""
