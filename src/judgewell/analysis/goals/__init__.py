"""A study that stops when its conclusion is safe, and asks about the documents on which that conclusion depends.

State (what was answered about each document) → `look` (what it says about the systems, and whether to stop) →
`next_batch` (which documents to ask about next). All three are functions of plain arrays, and the same state and seed
give the same batch.
"""
