"""A chart drawn to a file, in the light theme."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from judgewell.charts.themes import theme


def specification(chart: Any) -> dict[str, Any]:
    """The chart as Vega-Lite, in the light theme."""
    drawing: dict[str, Any] = chart.to_dict(validate=False)
    return {**drawing, "config": {**theme(), "background": "white"}}


def svg(spec: dict[str, Any]) -> str:
    """The chart drawn; what it names inside (gradients, clips) is numbered from 0, not from what was drawn before."""
    import vl_convert

    drawn: str = vl_convert.vegalite_to_svg(spec)
    names = dict.fromkeys(re.findall(r"\b(?:gradient_|clip)\d+\b", drawn))
    numbers = {name: f"{name.rstrip('0123456789')}{place}" for place, name in enumerate(names)}
    return re.sub(r"\b(?:gradient_|clip)\d+\b", lambda match: numbers[match[0]], drawn)


def pdf(spec: dict[str, Any]) -> bytes:
    """The chart as PDF; lists of what a page uses, which are written in any order, are sorted."""
    import vl_convert

    drawn: bytes = vl_convert.vegalite_to_pdf(spec)
    return re.sub(
        rb"(?<= <<\n)(?:\s+/\w+ \d+ 0 R\n){2,}", lambda match: b"".join(sorted(match[0].splitlines(True))), drawn
    )


def draw(spec: dict[str, Any], path: Path) -> None:
    """Write a specification as the path's ending says: .svg, .pdf or .png."""
    import vl_convert

    if path.suffix == ".svg":
        path.write_text(svg(spec), encoding="utf-8")
    else:
        path.write_bytes(pdf(spec) if path.suffix == ".pdf" else vl_convert.vegalite_to_png(spec, scale=2))
