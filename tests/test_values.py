"""Quickly made frozen dataclasses behave as the standard library's."""

from __future__ import annotations

import dataclasses
import pickle
from dataclasses import asdict, field, fields, replace
from typing import Any, ClassVar

import pytest

from judgewell import values


def classes(dataclass: Any) -> tuple[Any, Any]:
    """The same two classes, made by one decorator or the other."""

    @dataclass(frozen=True)
    class Point:
        x: int
        y: int = 2
        tags: list[str] = field(default_factory=list, compare=False, repr=False)
        kind: ClassVar[str] = "point"

    @dataclass(frozen=True, kw_only=True)
    class Named(Point):
        name: str = field(default="a", metadata={"about": "its name"})

        def __post_init__(self) -> None:
            if not self.name:
                raise ValueError("no name")

    return Point, Named


@pytest.mark.parametrize("dataclass", [values.dataclass, dataclasses.dataclass])
def test_behaves_as_a_frozen_dataclass(dataclass: Any) -> None:
    point, named = classes(dataclass)
    one = named(1, name="b")
    assert (one.x, one.y, one.tags, one.name, one.kind) == (1, 2, [], "b", "point")
    assert one == named(x=1, y=2, tags=["compared with nothing"], name="b") != named(1)
    assert hash(one) == hash(named(1, name="b"))
    assert point(1, 2) != named(1, name="a")
    assert repr(one).endswith("Named(x=1, y=2, name='b')")
    assert replace(one, y=5).y == 5
    assert replace(one, y=5).name == "b"
    assert [each.name for each in fields(named)] == ["x", "y", "tags", "name"]
    assert fields(named)[3].metadata["about"] == "its name"
    assert asdict(one)["name"] == "b"
    assert named.__match_args__ == ("x", "y", "tags")
    with pytest.raises(dataclasses.FrozenInstanceError, match="y"):
        one.y = 3
    with pytest.raises(dataclasses.FrozenInstanceError, match="y"):
        del one.y
    for wrong in ({"x": 1, "z": 1}, {}, {"x": 1, "name": ""}):
        with pytest.raises((TypeError, ValueError)):
            named(**wrong)
    with pytest.raises(TypeError):
        named(1, 2, [], "b")
    with pytest.raises(TypeError):
        named(1, x=1)


def test_either_sort_can_be_a_subclass_of_the_other() -> None:
    point, _ = classes(values.dataclass)
    standard, _ = classes(dataclasses.dataclass)
    for base, dataclass in ((point, dataclasses.dataclass), (standard, values.dataclass)):

        @dataclass(frozen=True)
        class Deep(base):  # type: ignore[misc, valid-type]
            z: int = 3

        assert Deep(1) == Deep(1, 2, [], 3)
        assert Deep(1).z == 3


def test_values_go_to_other_processes() -> None:
    from judgewell.evaluation.measures import parse

    assert pickle.loads(pickle.dumps(parse("RBP(p=0.9)@10"))) == parse("RBP(p=0.9)@10")
