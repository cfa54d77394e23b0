"""How far the judgments agree: with other labels, with each other and with themselves, and what changed the answer.

Every analysis is a function over the checked tables that returns a plain polars table; `by` splits it (by topic, scale,
template). A row whose statistic cannot be had says why in its `note`; when nothing at all can be had, a
:class:`~judgewell.errors.DataError` says what is missing.
"""
