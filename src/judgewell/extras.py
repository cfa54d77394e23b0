"""The parts of judgewell that are installed by need: which packages each extra of pyproject.toml brings."""

from __future__ import annotations

# Names as they are imported. A package of two extras is named where it is missed first.
EXTRAS = {
    "server": (
        *("alembic", "argon2", "cryptography", "fastapi", "httptools", "jwt", "markdown_it"),
        *("nh3", "pydantic", "sqlalchemy", "starlette", "uvicorn", "uvloop"),
    ),
    "report": ("altair", "jinja2", "markupsafe", "vl_convert"),
    "postgres": ("psycopg",),
    "cluster": ("dask", "distributed"),
    "remote": ("aiohttp", "fsspec", "s3fs"),
    "machine": ("httpx",),
}
WHOLE = {"demo": "server,report", "judge": "machine"}  # commands that need more than the package's first extra


def how_to_install(error: ModuleNotFoundError, command: str = "") -> str | None:
    """The line that installs the missing package, or nothing where no extra brings it."""
    package = (error.name or "").partition(".")[0]
    for extra, packages in EXTRAS.items():
        if package in packages:
            return f"pip install 'judgewell[{WHOLE.get(command, extra)}]'"
    return None
