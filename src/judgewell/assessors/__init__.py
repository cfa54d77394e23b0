"""Who judges without a browser: synthetic people who answer the judging server's pages.

A person has one impression of a document, and grades, magnitudes, 0–100 and comparisons all follow from it, so that
scales can be compared where the truth is known.
"""
