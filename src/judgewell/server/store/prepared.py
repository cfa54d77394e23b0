"""Statements for what is asked with every step: compiled once, then sent straight to the database's driver."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable
from typing import Any

import sqlalchemy as sa


class Prepared:
    """A statement with named values. Rows come as named tuples; errors are the driver's own, as the store expects."""

    def __init__(self, statement: sa.Executable) -> None:
        self._statement = statement
        self._for: dict[str, _Compiled] = {}

    def rows(self, connection: sa.Connection, /, **values: Any) -> list[Any]:
        """All rows."""
        compiled = self._compiled(connection)
        return [compiled.row(raw) for raw in compiled.send(connection, values).fetchall()]

    def one(self, connection: sa.Connection, /, **values: Any) -> Any:
        """The first row, or None."""
        compiled = self._compiled(connection)
        cursor = compiled.send(connection, values)
        first = cursor.fetchone()
        cursor.close()
        return None if first is None else compiled.row(first)

    def value(self, connection: sa.Connection, /, **values: Any) -> Any:
        """The first column of the first row, or None."""
        first = self.one(connection, **values)
        return None if first is None else first[0]

    def run(self, connection: sa.Connection, /, **values: Any) -> int:
        """How many rows it changed."""
        return int(self._compiled(connection).send(connection, values).rowcount)

    def _compiled(self, connection: sa.Connection) -> _Compiled:
        name = connection.dialect.name
        if name not in self._for:
            self._for[name] = _Compiled(self._statement, connection.dialect)
        return self._for[name]


class _Compiled:
    """A statement for one kind of database: its text, and how values go in and come out."""

    def __init__(self, statement: Any, dialect: sa.Dialect) -> None:
        compiled = statement.compile(dialect=dialect)
        self._text = str(compiled)
        self._order = compiled.positiontup
        self._fixed = {name: bind.effective_value for name, bind in compiled.binds.items() if not bind.required}
        self._in = {
            name: process
            for name, bind in compiled.binds.items()
            if (process := bind.type.dialect_impl(dialect).bind_processor(dialect)) is not None
        }
        self._fixed = {name: self._put(name, value) for name, value in self._fixed.items()}
        columns = list(getattr(statement, "selected_columns", ())) or list(getattr(statement, "_returning", ()))
        processes = [_reader(column.type, dialect) for column in columns]
        self._out = [(place, process) for place, process in enumerate(processes) if process is not None]
        row: Any = namedtuple("Row", [str(column.key) for column in columns], rename=True)  # type: ignore[misc]
        self._make: Callable[[Any], Any] = row._make

    def _put(self, name: str, value: Any) -> Any:
        process = self._in.get(name)
        return value if process is None else process(value)

    def send(self, connection: sa.Connection, values: dict[str, Any]) -> Any:
        for name in self._in.keys() & values.keys():
            values[name] = self._in[name](values[name])
        given = {**self._fixed, **values}
        driver: Any = connection.connection.dbapi_connection
        if self._order is not None:
            return driver.execute(self._text, [given[name] for name in self._order])
        return driver.execute(self._text, given)

    def row(self, raw: Any) -> Any:
        if self._out:
            changed = list(raw)
            for place, process in self._out:
                changed[place] = process(changed[place])
            raw = changed
        return self._make(raw)


def _reader(kind: sa.types.TypeEngine[Any], dialect: sa.Dialect) -> Callable[[Any], Any] | None:
    """How a column's values are read; every driver gives floats as floats."""
    return None if isinstance(kind, sa.Float) else kind.dialect_impl(dialect).result_processor(dialect, None)
