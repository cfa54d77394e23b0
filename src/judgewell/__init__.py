"""judgewell: relevance judgments on any scale, turned into real-valued gains, measured and compared."""

__version__ = "0.1.0"
