"""What can go wrong, one small tree.

Every message says the value, the rule it breaks and the cure, with file and line where there is a file.
The command line prints a :class:`JudgewellError` as one line and exits with code 2.
"""

from __future__ import annotations

from pathlib import Path


class JudgewellError(Exception):
    """The root: something the user can mend; its text is one complete line."""


class InputError(JudgewellError):
    """A file, table or argument breaks a rule."""

    def __init__(
        self,
        problem: str,
        *,
        cure: str | None = None,
        file: str | Path | None = None,
        line: int | None = None,
        row: tuple[str, str] | None = None,
    ) -> None:
        self.problem = problem
        self.cure = cure
        self.file = None if file is None else str(file)
        self.line = line
        self.row = row  # topic and document, where the line is not known yet
        place = "" if self.file is None else f"{self.file}:{line}: " if line else f"{self.file}: "
        super().__init__(f"{place}{problem}" + (f"; {cure}" if cure else ""))


class MeasureError(JudgewellError):
    """A measure's name cannot be read, or the measure does not allow the gains it was given."""


class DataError(JudgewellError):
    """The data are well formed but do not allow what was asked of them."""


class JudgewellWarning(UserWarning):
    """Something the result leaves out or assumes; a strict run refuses it instead."""
