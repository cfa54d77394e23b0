"""Every picture of docs/pictures: the judging pages, and the demo's report in light and dark.

    python scripts/pictures.py [--report report.html]

Without a report the demo is run for one. The dashboard's pictures come along where dashboard_pictures.py is there. A
picture that is too large is an error. The picture of the population is made by population_fit.py, from data that are
not part of this repository; the gallery's figures by the commands of docs/gallery.md.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

from page_pictures import KEPT, LOOKS, ROOT, shrink, take  # makes the tests' browser importable

from browsers import browser  # isort: skip

from judgewell.commands.demo import run

FOLDER = ROOT / "docs" / "pictures"
MOST = 150_000  # bytes of a picture
COLUMN = 880  # pixels of a page whose figures are as wide as a README's column


def report_pictures(page: Path) -> list[Path]:
    """The report's top, one screen, and its chart of systems as wide as a README shows it; in light and dark."""
    made = []
    with browser() as opened:
        for look in ("light", "dark"):
            for name, figure, width in (("report", None, 1280), ("report-systems", "#system_means .chart", COLUMN)):
                view = opened.new_page(**LOOKS[look] | {"viewport": {"width": width, "height": 800}})
                view.goto(page.absolute().as_uri())
                view.wait_for_function(
                    "[...document.querySelectorAll('.chart')].every(one => one.querySelector('svg'))"
                )
                path = FOLDER / f"{name}-{look}.png"
                (view.locator(figure) if figure else view).screenshot(path=path)
                shrink(path)
                made.append(path)
                view.close()
    return made


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--report", type=Path, help="a report that exists already")
    given = parser.parse_args()
    made = take(FOLDER, list(KEPT), whole=False)
    if given.report:
        made += report_pictures(given.report)
    else:
        with tempfile.TemporaryDirectory() as folder:
            run(Path(folder) / "demo", 1, print)
            made += report_pictures(Path(folder) / "demo" / "report.html")
    dashboard = Path(__file__).with_name("dashboard_pictures.py")
    if dashboard.exists():
        subprocess.run([sys.executable, dashboard], check=True)
    for path in made:
        size = path.stat().st_size
        print(f"{path.relative_to(ROOT)}  {size // 1024} kB")
    large = [path.name for path in FOLDER.glob("*.png") if path.stat().st_size > MOST]
    if large:
        sys.exit(f"too large (more than {MOST // 1000} kB): {', '.join(large)}")


if __name__ == "__main__":
    main()
