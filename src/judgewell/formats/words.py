"""Answers as people and tools write them: words, documents' ids, decimal commas, per cent, nothing at all.

What a word means is said by whoever reads the file (`words`), never guessed. What is read in another way than it is
written, and rows that hold no answer, are told.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

import polars as pl

from judgewell.errors import InputError, Place
from judgewell.tables import GAINS, JUDGMENTS, NUMBER, PAIRS, SIDES, TEXT, Table

ANSWER = {JUDGMENTS.name: "value", PAIRS.name: "preferred", GAINS.name: "gain"}
LISTED = 8  # words named in a message
MOST_WORDS = 30  # more different answers are hardly levels
WITH_COMMA = r"^[+-]?\d+,\d+$"
SURELY_DECIMAL = r"^[+-]?0,|,(\d{1,2}|\d{4,})$"  # 1,250 may be a thousand and more
PERCENT = r"^[+-]?\d+(\.\d+)?\s*%$"
NUMERIC = re.compile(r"[+-]?[\d.,' ]*\d[\d.,' ]*%?")
NOTHING = {"", "-", "?", "n/a", "na", "nan", "none", "null", "missing"}
TRUTHS = {"true": "1", "yes": "1", "false": "0", "no": "0"}
LEFTS, RIGHTS, TIES = (
    {"a", "1", "l", "left", "first"},
    {"b", "2", "r", "right", "second"},
    {"0", "same", "tie", "equal"},
)


def parse_words(text: str | None) -> dict[str, str] | None:
    """`Not relevant=0,Highly relevant=2,N/A=` as a mapping from answers to what they mean, nothing for no answer."""
    if text is None:
        return None
    found: dict[str, str] = {}
    begun = ""
    for item in text.split(","):
        word, sign, meaning = (begun + item).rpartition("=")
        begun = "" if sign else f"{begun}{item},"  # a word may hold a comma
        if sign and found.setdefault(_folded(word), meaning.strip()) != meaning.strip():
            raise InputError(f"--words gives {word.strip()!r} two meanings", cure="name each answer once")
    if begun or not all(found):
        raise InputError(
            f"{text!r} does not say what words mean",
            cure="write word=meaning, e.g. --words 'not relevant=0,relevant=1'",
        )
    return found


def settled(
    frame: pl.DataFrame, table: Table, words: Mapping[str, str] | None, place: Place
) -> tuple[pl.DataFrame, Place]:
    """The frame, which has our names, with answers that the table can check; rows without one are left out and told."""
    answer = ANSWER[table.name]
    numbers_for_sides = table.name == PAIRS.name and answer in frame.columns and frame[answer].dtype.is_integer()
    if numbers_for_sides or (answer in frame.columns and frame[answer].dtype in (pl.Categorical, pl.Enum)):
        frame = frame.with_columns(pl.col(answer).cast(TEXT))
    if answer in frame.columns and frame[answer].dtype == pl.Boolean and not words:
        place.note(f"{answer} is true or false, read as 1 and 0")
    if words and answer in frame.columns:
        frame = frame.with_columns(_meant(frame[answer], words, table, place))
    for column in table.columns:
        if column.dtype == NUMBER and column.name in frame.columns and frame[column.name].dtype == TEXT:
            frame = frame.with_columns(_numbers(frame[column.name], place))
    if answer not in frame.columns or frame[answer].dtype != TEXT:
        return _answered(frame, table, answer, place)
    if table.name == PAIRS.name:
        frame = frame.with_columns(_sides(frame, place))
    known = frame[answer].is_in(SIDES) if table.name == PAIRS.name else _cast(frame[answer]).is_not_null()
    strange = (~known & (frame[answer].str.strip_chars() != "")).fill_null(False).arg_true()
    if len(strange):
        raise _unknown(frame[answer], strange, table, place)
    return _answered(frame, table, answer, place)


def _folded(word: str) -> str:
    return word.strip().lower()


def _cast(values: pl.Series) -> pl.Series:
    return values.str.strip_chars().cast(NUMBER, strict=False).fill_nan(None)


def _meant(answers: pl.Series, words: Mapping[str, str], table: Table, place: Place) -> pl.Series:
    """The answers with each word in its meaning; words that no answer has are told."""
    folded = {_folded(str(word)): str(meaning).strip() for word, meaning in words.items()}
    for word, meaning in folded.items():
        fits = meaning in ("", *SIDES) if table.name == PAIRS.name else not meaning or is_number(meaning)
        if not fits:
            rule = "left, right, same" if table.name == PAIRS.name else "a number"
            raise InputError(f"{word!r} cannot mean {meaning!r}", cure=f"a word means {rule} or nothing (--words)")
    text = _written(answers)
    given = text.str.strip_chars().str.to_lowercase()
    unused = [word for word in folded if word not in set(given.unique().drop_nulls())]
    if unused:
        place.note(f"no answer is {', '.join(map(repr, unused))}")
    meant = given.replace_strict(list(folded), list(folded.values()), default=text, return_dtype=TEXT)
    return meant.set(meant == "", None).alias(answers.name)


def _written(answers: pl.Series) -> pl.Series:
    """The answers as text; a whole number without a decimal point, however it is stored."""
    if not answers.dtype.is_float():
        return answers.cast(TEXT)
    whole = (answers % 1 == 0).fill_null(False)
    return answers.cast(pl.Int64, strict=False).cast(TEXT).zip_with(whole, answers.cast(TEXT))


def is_number(text: str) -> bool:
    """Whether a word is a number as files write it."""
    try:
        float(text)
    except ValueError:
        return False
    return "_" not in text


def _numbers(values: pl.Series, place: Place) -> pl.Series:
    """Text with decimal commas or per cent signs as text of numbers, where all of it is written so; told."""
    text = values.str.strip_chars()
    odd = text.filter(((text != "") & text.cast(NUMBER, strict=False).is_null()).fill_null(False))
    if odd.is_empty():
        return values
    filled = text.filter((text != "").fill_null(False))
    commas = odd.str.contains(WITH_COMMA).all() and odd.str.contains(SURELY_DECIMAL).any()
    if commas and not filled.str.contains(".", literal=True).any():
        place.note(f"{values.name} has decimal commas, read as points ({odd[0]})")
        return text.str.replace(",", ".", literal=True)
    if filled.str.contains(PERCENT).all():
        place.note(f"{values.name} is in per cent, read as numbers from 0 to 100 ({odd[0]})")
        return text.str.strip_suffix("%").str.strip_chars()
    return values


def _sides(frame: pl.DataFrame, place: Place) -> pl.Series:
    """Preferred as left, right or same; where it names one of the two documents, which is told, as that side."""
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
    """An answer that is no number (or no side), with the way out: all such words, their meanings where they say."""
    first = str(answers[rows[0]]).strip()
    rule = f"is not one of {', '.join(SIDES)}" if table.name == PAIRS.name else "is not a number"
    problem = f"{answers.name} {first!r} {rule}"
    if table.name != PAIRS.name and NUMERIC.fullmatch(first):
        return place.error(problem, "write numbers as 1234.5, with nothing between thousands", rows[0])
    words = answers.gather(rows).str.strip_chars().unique().sort().to_list()
    spelled = {_folded(word): word for word in reversed(words)}
    if len(spelled) > MOST_WORDS:
        cure = f"there are {len(spelled)} such words: is it another column? (--columns {answers.name}=NAME)"
        return place.error(problem, cure, rows[0])
    means = _side if table.name == PAIRS.name else _worth
    said = ",".join(f"{word}={means(word, spelled)}" for word in sorted(spelled.values())[:LISTED])
    more = f" and so on for all {len(spelled)} words" if len(spelled) > LISTED else ""
    kind = "left, right or same" if table.name == PAIRS.name else "a number"
    blank = f", {kind} in place of …" if "…" in said else ""
    cure = f"write {kind}, or say what each answer means: --words {said!r}{more}{blank} (nothing means no answer)"
    return place.error(problem, cure, rows[0])


def _worth(word: str, words: Iterable[str]) -> str:
    """The number that a word holds itself, to be proposed; … where it holds none, or more than one."""
    folded = _folded(word)
    if folded in NOTHING:
        return ""
    if folded in TRUTHS:
        return TRUTHS[folded]
    fraction = re.fullmatch(r"(\d+)/(\d+)", folded)
    if fraction and int(fraction[2]):
        return f"{int(fraction[1]) / int(fraction[2]):.6g}"
    numbers = re.findall(r"\d+(?:\.\d+)?", folded)
    plain = len(numbers) == 1 and not re.search(r"[-−–/:]\d|\d[-−–/:]", folded)
    return numbers[0] if plain else "…"


def _side(word: str, words: Iterable[str]) -> str:
    """The side that a word most likely means, to be proposed; … where it is not clear."""
    folded = _folded(word)
    if folded in NOTHING:
        return ""
    if folded.lstrip("+-").isdigit() and not set(words) >= {"1", "2"} >= set(filter(str.isdigit, words)) - {"0"}:
        return "same" if folded == "0" else "…"
    return "left" if folded in LEFTS else "right" if folded in RIGHTS else "same" if folded in TIES else "…"


def _answered(frame: pl.DataFrame, table: Table, answer: str, place: Place) -> tuple[pl.DataFrame, Place]:
    """The rows that hold an answer; pairs keep the others, since a pair may have other answers."""
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
    whose = ", ".join(f"{name} {first[name]}" for name in ("topic", "doc", "assessor") if first.get(name) is not None)
    whose = whose or f"row {at + 1}"
    place.note(f"{int(empty.sum())} of {len(frame)} rows have no {answer} and are left out (the first: {whose})")
    return frame.filter(~empty), place.of_rows((~empty).arg_true())
