"""Judgments and pairs to gains: one number per document that a measure can use, and how sure it is.

`scale.scale` is the one call; `methods` lists every method, and the module of a family holds its methods and the
functions behind them. Nothing here imports another stage.
"""
