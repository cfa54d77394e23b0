"""Judgments and pairs to gains: one number per document that a measure can use, and how sure it is.

`methods` lists every way; the functions behind them stand in the module of their kind. Nothing here imports another
stage.
"""
