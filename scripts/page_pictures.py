"""Pictures of every page an assessor can see: light, dark and on a phone.

    python scripts/page_pictures.py [folder] [name …]

Without a folder a handful of small ones is made for docs/pictures; with one, all pages in all looks go there.
"""

from __future__ import annotations

import sys
from pathlib import Path

from PIL import Image

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tests" / "server" / "browser")]

from browsers import browser  # noqa: E402
from page_server import page_server  # noqa: E402
from sample_pages import all_pages  # noqa: E402

LOOKS = {
    "light": {"viewport": {"width": 1280, "height": 800}, "color_scheme": "light"},
    "dark": {"viewport": {"width": 1280, "height": 800}, "color_scheme": "dark"},
    "phone": {"viewport": {"width": 360, "height": 740}, "color_scheme": "light", "has_touch": True, "is_mobile": True},
    "zoom": {"viewport": {"width": 320, "height": 256}, "color_scheme": "light"},
}
KEPT = (
    ("ordinal", "light"),
    ("magnitude", "dark"),
    ("s100_touched", "light"),
    ("pair", "light"),
    ("pair", "dark"),
    ("ordinal", "phone"),
)
COLOURS = 128  # enough for flat pages, and a third of the size


def take(folder: Path, wanted: list[tuple[str, str]], whole: bool) -> list[Path]:
    """One PNG for each page and look, named after both; `whole` shows small screens down to the end."""
    made = []
    folder.mkdir(parents=True, exist_ok=True)
    with page_server(all_pages()) as address, browser() as opened:
        for look in dict.fromkeys(look for _, look in wanted):
            page = opened.new_page(**LOOKS[look])
            for name in [name for name, at in wanted if at == look]:
                page.goto(f"{address}/{name}")
                path = folder / f"{name}-{look}.png"
                page.screenshot(path=path, full_page=whole and look in ("phone", "zoom"))
                shrink(path)
                made.append(path)
            page.close()
    return made


def shrink(path: Path) -> None:
    """Few colours, tightly packed."""
    with Image.open(path) as picture:
        small = picture.convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE)
    small.save(path, optimize=True)


def main(arguments: list[str]) -> None:
    if not arguments:
        made = take(ROOT / "docs" / "pictures", list(KEPT), whole=False)
    else:
        names = arguments[1:] or list(all_pages())
        made = take(Path(arguments[0]), [(name, look) for name in names for look in LOOKS], whole=True)
    for path in made:
        print(f"{path.relative_to(ROOT) if path.is_relative_to(ROOT) else path}  {path.stat().st_size // 1024} kB")


if __name__ == "__main__":
    main(sys.argv[1:])
