"""Frozen dataclasses that load quickly.

The standard library writes the source of six methods for each class and compiles it, on which a command for one small
run would spend a tenth of its time. Here all classes share the same six methods. `fields`, `replace` and `asdict` work,
and a subclass may be a frozen dataclass of either sort.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
else:

    def dataclass(*, frozen: bool, kw_only: bool = False) -> Callable[[type], type]:
        """Make a class a frozen dataclass; its module has `from __future__ import annotations`."""
        return lambda cls: _made(cls, kw_only)


@dataclasses.dataclass(frozen=True)
class _Frozen:
    """Holds what the standard library notes about a frozen dataclass."""


def _made(cls: Any, kw_only: bool) -> Any:
    fields: dict[str, Any] = {}
    for base in reversed(cls.__mro__[1:]):
        fields.update(getattr(base, "__dataclass_fields__", {}))
    for name, annotation in cls.__annotations__.items():
        if annotation.startswith("ClassVar"):
            continue
        default = cls.__dict__.get(name, dataclasses.MISSING)
        if isinstance(default, dataclasses.Field):
            delattr(cls, name)
            if default.default is not dataclasses.MISSING:
                setattr(cls, name, default.default)
        else:
            default = dataclasses.field(default=default)
        fields[name] = default
        fields[name].name, fields[name].type, fields[name].kw_only = name, annotation, kw_only
        fields[name]._field_type = dataclasses._FIELD  # type: ignore[attr-defined]
    cls.__dataclass_fields__, cls.__dataclass_params__ = fields, vars(_Frozen)["__dataclass_params__"]
    cls.__match_args__ = tuple(name for name, field in fields.items() if not field.kw_only)  # type: ignore[misc]
    for name, method in SHARED.items():
        if name not in cls.__dict__ or (name == "__hash__" and cls.__hash__ is None):  # __eq__ alone sets it to None
            setattr(cls, name, method)
    return cls


def _init(self: Any, *args: Any, **given: Any) -> None:
    kind, values = type(self), self.__dict__
    if len(args) > len(kind.__match_args__):
        raise TypeError(f"{kind.__name__} takes {len(kind.__match_args__)} arguments, not {len(args)}")
    for name, value in zip(kind.__match_args__, args, strict=False):
        if name in given:
            raise TypeError(f"{kind.__name__} got two values of {name}")
        given[name] = value
    for name, field in kind.__dataclass_fields__.items():
        if name in given:
            values[name] = given.pop(name)
        elif field.default is not dataclasses.MISSING:
            values[name] = field.default
        elif field.default_factory is not dataclasses.MISSING:
            values[name] = field.default_factory()
        else:
            raise TypeError(f"{kind.__name__} needs {name}")
    if given:
        raise TypeError(f"{kind.__name__} has no {next(iter(given))}")
    if hasattr(kind, "__post_init__"):
        self.__post_init__()


def _compared(self: Any) -> tuple[Any, ...]:
    return tuple(getattr(self, name) for name, field in self.__dataclass_fields__.items() if field.compare)


def _eq(self: Any, other: object) -> bool:
    return _compared(self) == _compared(other) if type(self) is type(other) else NotImplemented


def _hash(self: Any) -> int:
    return hash(_compared(self))


def _repr(self: Any) -> str:
    shown = (f"{name}={getattr(self, name)!r}" for name, field in self.__dataclass_fields__.items() if field.repr)
    return f"{type(self).__qualname__}({', '.join(shown)})"


def _setattr(self: Any, name: str, value: Any) -> None:
    raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")


def _delattr(self: Any, name: str) -> None:
    raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")


SHARED = {
    "__init__": _init,
    "__eq__": _eq,
    "__hash__": _hash,
    "__repr__": _repr,
    "__setattr__": _setattr,
    "__delattr__": _delattr,
}
