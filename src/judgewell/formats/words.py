"""Answers as people and tools write them: words, documents' ids, decimal commas, per cent, nothing at all.

The user says what a word means (`--words`); it is never guessed. A note reports what is read in another way than it is
written, and rows that hold no answer.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

import polars as pl

from judgewell.errors import InputError, Place
from judgewell.tables import GAINS, JUDGMENTS, NUMBER, PAIRS, SIDES, TEXT, Table

ANSWER = {JUDGMENTS.name: "value", PAIRS.name: "preferred", GAINS.name: "gain"}
STRENGTH = "strength"  # of a graded preference: 2 where right:2 is meant
LISTED = 8  # words named in a message
MOST_WORDS = 30  # more different answers are hardly grades
WITH_COMMA = r"^([+-]?\d+),(\d+)$"
BEGINS_AS_NUMBER = r"^[+-]?[\d.,]"
SURELY_DECIMAL = r"^[+-]?0,|,(\d{1,2}|\d{4,})$"  # 1,250 may be a thousand and more
PERCENT = r"^[+-]?\d+(\.\d+)?\s*%$"
NUMERIC = re.compile(r"[+-]?[\d.,' ]*\d[\d.,' ]*%?")
MEANING = "a number, left, right, same, a side with its strength (left:2) or nothing"


def parse_words(text: str | None) -> dict[str, str] | None:
    """`Not relevant=0,Highly relevant=2,N/A=` as a mapping from answers to what they mean, nothing for no answer."""
    if text is None:
        return None
    words: dict[str, str] = {}
    begun = ""
    for item in text.split(","):
        word, sign, meaning = (begun + item).rpartition("=")
        begun = "" if sign else f"{begun}{item},"  # a word may hold a comma
        if sign and words.setdefault(_folded(word), meaning.strip()) != meaning.strip():
            raise InputError(f"--words gives {word.strip()!r} two meanings", cure="name each answer once")
    if begun or not all(words):
        raise InputError(
            f"{text!r} does not say what words mean",
            cure="write word=meaning, e.g. --words 'not relevant=0,relevant=1'",
        )
    for word, meaning in words.items():
        if not (is_number(meaning) or _is_side(meaning)):
            raise InputError(f"{word!r} cannot mean {meaning!r}", cure=f"a word means {MEANING} (--words)")
    return words


def settled(
    frame: pl.DataFrame, table: Table, words: Mapping[str, str] | None, place: Place
) -> tuple[pl.DataFrame, Place]:
    """The frame, which has our names, with answers that the table can check; rows without one are excluded and noted.

    Of the words those count that can be an answer of this table: sides for pairs, numbers for the others.
    """
    answer = ANSWER[table.name]
    numbers_for_sides = table.name == PAIRS.name and answer in frame.columns and frame[answer].dtype.is_numeric()
    if numbers_for_sides or (answer in frame.columns and frame[answer].dtype in (pl.Categorical, pl.Enum)):
        frame = frame.with_columns(_written(frame[answer]))
    if answer in frame.columns and frame[answer].dtype == pl.Boolean and not words:
        place.note(f"{answer} is true or false, read as 1 and 0")
    if words and answer in frame.columns:
        frame = frame.with_columns(_meant(frame[answer], words, table, place))
    for column in table.columns:
        if column.dtype == NUMBER and column.name in frame.columns and frame[column.name].dtype == TEXT:
            frame = frame.with_columns(plain_numbers(frame[column.name], place))
    if answer not in frame.columns or frame[answer].dtype != TEXT:
        return answered(frame, table, place)
    if table.name == PAIRS.name:
        frame = frame.with_columns(_sides(frame, place))
    known = frame[answer].is_in(SIDES) if table.name == PAIRS.name else _cast(frame[answer]).is_not_null()
    strange = (~known & (frame[answer].str.strip_chars() != "")).fill_null(False).arg_true()
    if len(strange):
        raise _unknown(frame[answer], strange, table, place)
    return answered(frame, table, place)


def is_number(text: str) -> bool:
    """Whether a word is a number as files write it."""
    try:
        float(text)
    except ValueError:
        return False
    return "_" not in text


def _folded(word: str) -> str:
    return word.strip().lower()


def _is_side(meaning: str) -> bool:
    """Whether a meaning is a side, one with its strength, or nothing."""
    side, sign, strength = meaning.partition(":")
    return not meaning or (side in SIDES and (not sign or (is_number(strength) and float(strength) >= 0)))


def _cast(values: pl.Series) -> pl.Series:
    return values.str.strip_chars().cast(NUMBER, strict=False).fill_nan(None)


def _meant(answers: pl.Series, words: Mapping[str, str], table: Table, place: Place) -> list[pl.Series]:
    """The answers with each word in its meaning, and the strengths of graded preferences."""
    pairs = table.name == PAIRS.name
    folded = {_folded(str(word)): str(meaning).strip() for word, meaning in words.items()}
    fitting = {word: means for word, means in folded.items() if not means or (_is_side if pairs else is_number)(means)}
    text = _written(answers)
    given = text.str.strip_chars().str.to_lowercase()
    given = given.str.replace(r"^([+-]?\d+)\.0+$", "$1") if not given.is_in(list(folded)).any() else given
    there = set(given.unique().drop_nulls())
    for word in folded.keys() & there - fitting.keys():
        rule = "left, right, same, a side with its strength (left:2)" if pairs else "a number"
        raise InputError(f"{word!r} cannot mean {folded[word]!r}", cure=f"a word means {rule} or nothing (--words)")
    unused = [word for word in fitting if word not in there]
    if unused:
        place.note(f"--words names answers that do not occur: {', '.join(map(repr, unused))}")
    if not fitting:
        return [answers]
    meant = given.replace_strict(list(fitting), list(fitting.values()), default=text, return_dtype=TEXT)
    meant = meant.set(meant == "", None).alias(answers.name)
    if not pairs or not any(":" in means for means in fitting.values()):
        return [meant]
    parts = meant.str.splitn(":", 2).struct
    strength = parts.field("field_1").cast(NUMBER, strict=False)
    place.note("the preferences are graded; their strengths are kept in the column strength")
    return [parts.field("field_0").alias(answers.name), strength.set(meant == "same", 0.0).alias(STRENGTH)]


def _written(answers: pl.Series) -> pl.Series:
    """The answers as text; a whole number without a decimal point, however it is stored."""
    if not answers.dtype.is_float():
        return answers.cast(TEXT)
    whole = (answers % 1 == 0).fill_null(False)
    return answers.cast(pl.Int64, strict=False).cast(TEXT).zip_with(whole, answers.cast(TEXT))


def plain_numbers(values: pl.Series, place: Place) -> pl.Series:
    """Text with decimal commas or per cent signs as text of numbers, where all numbers are written so; noted."""
    text = values.str.strip_chars()
    odd = text.filter(((text != "") & text.cast(NUMBER, strict=False).is_null()).fill_null(False))
    if odd.is_empty():
        return values
    filled = text.filter((text != "").fill_null(False))
    numbers = odd.filter(odd.str.contains(BEGINS_AS_NUMBER))
    commas = numbers.str.contains(WITH_COMMA).all() and numbers.str.contains(SURELY_DECIMAL).any()
    if commas and not filled.str.contains(r"\d\.\d").any():
        place.note(f"{values.name} has decimal commas, read as points ({numbers[0]})")
        return text.str.replace(WITH_COMMA, "$1.$2")
    if filled.str.contains(PERCENT).all():
        place.note(f"{values.name} is in per cent, read as numbers from 0 to 100 ({odd[0]})")
        return text.str.strip_suffix("%").str.strip_chars()
    return values


def _sides(frame: pl.DataFrame, place: Place) -> pl.Series:
    """Preferred as left, right or same; where it names one of the two documents, with a note, as that side."""
    given = frame["preferred"].str.strip_chars()
    lowered = given.str.to_lowercase()
    given = given.zip_with(~lowered.is_in(SIDES).fill_null(False), lowered).set(given == "", None)
    if not {"left", "right"} <= set(frame.columns):
        return given
    left, right = frame["left"].cast(TEXT), frame["right"].cast(TEXT)
    other = (~given.is_in(SIDES)).fill_null(False)
    of_row = ((given == left) | (given == right)).fill_null(False) & other
    documents = set(left.unique()) | set(right.unique())
    if not of_row.any() or set(given.filter(other & ~of_row).unique()) & documents:
        return given
    place.note("preferred names documents, read as left or right")
    side = pl.select(pl.when(given == left).then(pl.lit("left")).otherwise(pl.lit("right"))).to_series()
    return side.zip_with(of_row, given).alias("preferred")


def _unknown(answers: pl.Series, rows: pl.Series, table: Table, place: Place) -> InputError:
    """An answer that is no number (or no side), with the way out: all such words, for the user to give a meaning."""
    pairs = table.name == PAIRS.name
    first = str(answers[rows[0]]).strip()
    rule = f"is not one of {', '.join(SIDES)}" if pairs else "is not a number"
    problem = f"{answers.name} {first!r} {rule}"
    if not pairs and NUMERIC.fullmatch(first):
        return place.error(problem, "write numbers as 1234.5, with nothing between thousands", rows[0])
    words = answers.gather(rows).str.strip_chars().unique().sort().to_list()
    spelled = {_folded(word): word for word in reversed(words)}
    if len(spelled) > MOST_WORDS:
        cure = f"there are {len(spelled)} such words: is it another column? (--columns {answers.name}=NAME)"
        return place.error(problem, cure, rows[0])
    option = ",".join(f"{word}=…" for word in sorted(spelled.values())[:LISTED])
    more = f" and so on for all {len(spelled)} words" if len(spelled) > LISTED else ""
    meaning = "left, right or same" if pairs else "a number"
    graded = ", left:2 where a preference has a strength" if pairs else ""
    cure = f"write {meaning}, or say what each answer means: --words {option!r}{more}, with {meaning} in place of …"
    return place.error(problem, f"{cure} (nothing means no answer{graded})", rows[0])


def answered(frame: pl.DataFrame, table: Table, place: Place) -> tuple[pl.DataFrame, Place]:
    """The rows that hold an answer; pairs keep the others, since a pair may have other answers."""
    answer = ANSWER[table.name]
    if table.name == PAIRS.name or answer not in frame.columns:
        return frame, place
    empty = frame[answer].is_null()
    if frame[answer].dtype == TEXT:
        empty |= (frame[answer].str.strip_chars() == "").fill_null(False)
    if not empty.any():
        return frame, place
    if empty.all():
        raise place.error(f"no row has a {answer}", f"is {answer} in another column? (--columns {answer}=NAME)")
    at = int(empty.arg_true()[0])
    first = frame.row(at, named=True)
    whose = ", ".join(f"{name} {first[name]}" for name in ("topic", "doc") if first.get(name) is not None)
    whose = whose or f"row {at + 1}"
    place.note(f"{int(empty.sum())} of {len(frame)} rows have no {answer} and are excluded (the first: {whose})")
    return frame.filter(~empty), place.of_rows((~empty).arg_true())
