"""Who judges without a browser: synthetic people who answer the judging server's pages.

population  every parameter in one place, with its source
people      one synthetic person: scale, noise, pace and kind, drawn from the population
truth       what each document is really worth, drawn from its known level
answers     from an impression of a document to what is typed on any scale, as numbers and as arrays
session     one person at the server's door: what is seen on a page, what is sent back and after how long
figures     what judgments look like in a few numbers, to hold synthetic beside real ones; the fit
value       what a study would buy: alternative designs at equal cost

A person has one impression of a document, and grades, magnitudes, 0–100 and comparisons all follow from it, so that
scales can be compared where the truth is known.
"""
