"""Names of API fields before 0.2, which still hold the same beside the new ones."""

from __future__ import annotations

from operator import attrgetter
from typing import Any

from pydantic import computed_field


def former(name: str, kind: Any) -> Any:
    """A second, deprecated name of a dataclass's field; the API's JSON and its schema show both."""
    advice = f"The former name of `{name}`; it will go with the next version."
    return computed_field(return_type=kind, deprecated=advice, description=advice)(property(attrgetter(name)))
