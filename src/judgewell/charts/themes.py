"""Light and dark: one set of colours for marks, text and lines, as the configuration of a chart.

Charts name no colours of their own, only styles (`soft`, `strong`) and the range of categories, so the same chart is
drawn in either. Categories take Okabe and Ito's colours, which people with any colour vision tell apart, and charts
that use them also differ in shape, place or text.
"""

from __future__ import annotations

from typing import Any

FONT = "Helvetica, Arial, Liberation Sans, sans-serif"
LIGHT_RANGE = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#8a6d00", "#56b4e9", "#5c5c5c"]
DARK_RANGE = ["#56b4e9", "#e69f00", "#2fc49a", "#e29bc4", "#f0e442", "#8fb8ff", "#c9c9c9"]


def theme(dark: bool = False) -> dict[str, Any]:
    """The configuration of every chart; one weight of type and no transparency, so that PDF files come out the same
    each time."""
    ink, soft, grid = ("#e8e6e1", "#a9aeb0", "#333a3c") if dark else ("#1c1f21", "#565c60", "#e4e2dc")
    colours = DARK_RANGE if dark else LIGHT_RANGE
    main = colours[0]
    faint = "#4a5255" if dark else "#c9c7c0"
    pale, middle = ("#1f4660", "#3d7ca6") if dark else ("#b5d7ea", "#7fb4d6")
    words = {"labelColor": soft, "titleColor": ink, "titleFontWeight": "normal", "labelFontWeight": "normal"}
    sizes = {"labelFontSize": 12, "titleFontSize": 13, "titlePadding": 8}
    return {
        "background": None,
        "font": FONT,
        "view": {"stroke": None},
        # Other viewers have other letters: room for names that are wider than measured.
        "padding": {"left": 16, "top": 5, "right": 8, "bottom": 5},
        "axis": {**words, **sizes, "gridColor": grid, "domainColor": soft, "tickColor": soft, "labelLimit": 0},
        # Where labels overlap, every second one goes, so that those that stay are equally far apart.
        "axisXQuantitative": {"labelOverlap": "parity", "labelSeparation": 10, "labelFlush": False},
        "axisYDiscrete": {"labelPadding": 7},
        "legend": {**words, "labelFontSize": 12, "titleFontSize": 12, "orient": "top", "symbolStrokeWidth": 2},
        "header": {"labelColor": ink, "titleColor": ink, "labelFontWeight": "normal", "titleFontWeight": "normal"},
        "mark": {"color": main},
        "text": {"color": ink, "fontSize": 12},
        "range": {
            "category": colours,
            "diverging": ["#8f4a12", "#262c2e", "#15618f"] if dark else ["#f0a878", "#f6f4ef", "#7dbbe3"],
            "ordinal": [main, "#4a5255" if dark else "#d5d3cc", colours[1]],
            "heatmap": ["#22282a" if dark else "#f3f1ec", main],
            "ramp": ["#22282a", "#15618f"] if dark else ["#f6f4ef", "#7dbbe3"],
        },
        "style": {
            "main": {"color": main, "fill": main, "stroke": main},
            "line": {"color": main, "stroke": main},
            "band": {"color": pale, "fill": pale, "stroke": None},
            "box": {"color": pale, "fill": pale, "stroke": main},
            "soft": {"color": soft, "stroke": soft},
            "soft_dot": {"color": soft, "fill": soft, "stroke": soft},
            "faint": {"color": faint, "stroke": faint},
            "interval": {"color": middle, "stroke": middle},
            "strong": {"color": ink, "stroke": ink, "fill": ink},
        },
    }
