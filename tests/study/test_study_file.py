"""The study file: every mistake at once with line, value, rule and cure; frozen once judging began."""

import json
import re
import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgewell.errors import InputError, JudgewellWarning
from judgewell.study.check import check_study, load_study
from judgewell.study.file import Source, parse, read_study
from judgewell.study.frozen import changes, freeze, study_hash
from judgewell.study.model import Study
from judgewell.study.new import KINDS, new_study, study_text


@pytest.fixture
def study(tmp_path):
    """A study of magnitudes to be edited; gives its file and an editor of single passages."""
    new_study(tmp_path / "tea", "magnitude")
    path = tmp_path / "tea" / "study.toml"

    def edited(*changed):
        text = path.read_text()
        for old, new in changed:
            assert old in text
            text = text.replace(old, new, 1)
        path.write_text(text)
        return path

    return edited


def told(path):
    """The mistakes without the folder in front."""
    return [str(problem).removeprefix(f"{path.parent}/") for problem in check_study(path).mistakes]


@pytest.mark.parametrize("kind", KINDS)
def test_a_study_to_begin_with_runs_as_it_is(tmp_path, kind):
    written = new_study(tmp_path / kind, kind)
    assert all(path.exists() for path in written)
    checked = check_study(written[0])
    assert checked.mistakes == ()
    assert checked.study is not None
    assert checked.study.study.name == kind
    assert checked.design is not None
    assert checked.design.judgments > 0
    if kind not in ("pairs", "templates"):
        assert [str(one).partition(": ")[2] for one in checked.warnings] == [
            "this is the example's consent text; before people judge, say who asks, what for and whom to write to"
        ]
        assert all(one.information for one in checked.warnings)
        assert [*checked.study.scales] == [kind]


def test_files_that_are_there_are_never_overwritten(tmp_path):
    new_study(tmp_path / "a")
    with pytest.raises(InputError, match=r"study\.toml exists already"):
        new_study(tmp_path / "a")
    with pytest.raises(InputError, match="choose one of magnitude"):
        new_study(tmp_path / "b", "likert")


def test_a_study_s_name_is_made_of_the_folder_s(tmp_path):
    assert 'name = "Tea-time-2"' in study_text("binary", "Tea  time (2)")
    assert 'name = "study"' in study_text("binary", "—")


def test_texts_of_the_example_are_named_until_they_are_changed(study):
    path = study(('consent = "This is a small example study.', 'consent = "We study search at our university.'))
    assert check_study(path).warnings == ()
    topics = path.with_name("topics.txt")
    topics.write_text(topics.read_text().replace("bread", "wool"))
    assert [str(one).partition(": ")[2] for one in check_study(path).warnings] == [
        f"the question about topic {topic} is still that of the example; ask about your own topic" for topic in "12"
    ]


def test_missing_files_are_named_beside_wrong_settings(study):
    path = study(
        ("documents = 6 ", "documents = 0 "), ('"topics.txt"', '"topic.txt"'), ('"grades.qrels"', '"grade.qrels"'),
        ('file = "pool.csv" ', 'runs = ["runs/*.run"] '),
    )  # fmt: skip
    assert [re.sub(r"^study\.toml:\d+: ", "", text) for text in told(path)] == [
        "there is no file topic.txt; paths start from the folder of the study file",
        "no run file matches runs/*.run",
        "there is no file grade.qrels; paths start from the folder of the study file",
        "units.documents 0 must be at least 1; what it sets: how many documents a unit has, the known ones included",
    ]


def test_what_a_setting_is_for_follows_its_rule_whatever_its_words(study):
    mistakes = told(study(("fee = 0", "fee = 20"), ('known = "strict"', 'known = "of"')))
    assert [mistake.partition(": ")[2] for mistake in mistakes] == [
        "checks.known 'of' is not one of 'strict', 'ties' or 'off'; "
        "what it sets: must the known H be scored above the known N",
        "pay.fee 20 must be at most 1.0; what it sets: the platform's fee as a share of the pay (write 0.2 for 20 %)",
    ]


def test_every_mistake_is_told_at_once_with_its_line(study):
    path = study(
        ("documents = 6 ", "documents = 0 "),
        ("redundancy = 5 ", 'redundancy = "five" '),
        ('order = "random"', 'order = "latin"'),
        ("seed = 1", "sede = 1"),
        ("silence = 10 ", "silence = true "),
        ('name = "tea"', 'name = "te a"'),
        ("lengths = [40, 120, 260]", "lengths = [40, 40]"),
        ("right = 2", "right = 7"),
        ('[platform]\nkind = "invite"', '[platform]\nkind = "prolific"'),
        ("high = [3]", "high = [3, 0]"),
    )
    text = path.read_text().split("\n")
    mistakes = told(path)
    expected = {
        "documents = 0": "units.documents 0 must be at least 1; what it sets: how many documents a unit has",
        'redundancy = "five"': "units.redundancy 'five' is not a whole number; what it sets: the minimum",
        'order = "latin"': "units.order 'latin' is not one of 'random' or 'balanced'",
        "sede = 1": "there is no setting study.sede; did you mean seed?",
        "silence = true": "work.silence true is not a number",
        'name = "te a"': "study.name 'te a' may hold letters, digits, dots, dashes and underscores only",
        "[checks.practice]": "checks.practice: lines of lengths 40, 40 cannot be used for practice",
        "[[checks.question]]": "checks.question.1: answer 7 of the question",
        "[platform]": "platform: prolific needs codes.completed",
        "[known]": "known: grade 0 cannot be known relevant and known not relevant",
    }
    assert len(mistakes) == len(expected)
    for start, said in expected.items():
        line = next(number for number, content in enumerate(text, start=1) if content.startswith(start))
        assert any(mistake.startswith(f"study.toml:{line}: {said}") for mistake in mistakes), (start, mistakes)
    lines = [int(re.match(r"study\.toml:(\d+)", mistake)[1]) for mistake in mistakes]
    assert lines == sorted(lines)


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ((("[units]", "[groups]\n[units]"),), r"\[groups\] beside \[units\]; keep one design"),
        ((("[scale]", "[scales]"),), "there is no setting scales; did you mean scale?"),
        ((("[scale]", "[scales]"),), "the study has no scale"),
        ((('kind = "magnitude"', 'kind = "likert"'),), r"scale\.kind 'likert' is not one of 'binary', 'ordinal'"),
        ((('kind = "magnitude"', "# kind"),), r"scale\.kind is missing"),
        ((('kind = "magnitude"', 'kind = "s100"'),), r"there is no setting scale\.relative"),
        ((("relative = true", 'relative = "yes"'),), r"scale\.relative 'yes' is neither true nor false"),
        ((('[grades]\nfile = "grades.qrels"', "#"),), r"\[known\] needs expert grades; add \[grades\]"),
        ((('[topics]\nfile = "topics.txt"', "[topics]\n"),), r"topics\.file is missing; TREC topics, id<TAB>text"),
        ((('file = "pool.csv"', "# nothing"),), r"pool: name either runs to pool or the file of a ready list"),
        ((("[units]", "[double]\nshare = 2.0\n[units]"),), r"double\.share 2\.0 must be at most 1"),
        ((("right = 2\ntries = 2", "right = 2\ntries = 1"),), r"checks\.question\.1\.tries 1 must be at least 2"),
        ((("amount = 0 ", "amount = inf "),), r"pay\.amount inf is not a finite number"),
        ((("[scale]", "[[scale]]\nkind='magnitude'\n[[scale]]"),), "two scales are called 'magnitude'"),
    ],
)
def test_single_mistakes_are_told_in_plain_words(study, changed, said):
    mistakes = told(study(*changed))
    assert any(re.search(said, mistake) for mistake in mistakes), mistakes
    assert all("\n" not in mistake and "pydantic" not in mistake for mistake in mistakes)


def test_what_is_not_toml_is_told_with_its_line(study):
    path = study(("documents = 6", "documents = = 6"))
    line = next(number for number, text in enumerate(path.read_text().split("\n"), 1) if "= = 6" in text)
    with pytest.raises(InputError, match=f"study.toml:{line}: this is not TOML: invalid value"):
        check_study(path)
    with pytest.raises(InputError, match="there is no such file; make one with judgewell new"):
        check_study(path.parent / "none.toml")
    with pytest.raises(InputError, match=r"this is a folder; name the study file in it: .*study\.toml"):
        check_study(path.parent)


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ((("topics.txt", "topic.txt"),), r"study\.toml:\d+: there is no file topic\.txt"),
        ((('# only = ["1"]', 'only = ["1", "9"]'),), r"study\.toml:\d+: topic '9' is not in the topic file"),
        ((('# only = ["1"]', 'only = ["1"]'),), r"topic '2' is not among the study's topics"),
        ((('file = "pool.csv"', 'runs = ["runs/*.run"]'),), r"study\.toml:\d+: no run file matches runs/\*\.run"),
        (
            (("high = [3]\nreserve = [2]", "high = [7]"),),
            r"study\.toml:31: topics 1, 2: no document is known to be highly relevant; grade one",
        ),
    ],
)
def test_files_that_do_not_fit_are_told(study, changed, said):
    mistakes = told(study(*changed))
    assert any(re.search(said, mistake) for mistake in mistakes), mistakes


def test_wrong_settings_wrong_files_and_missing_files_are_told_in_one_run(study):
    path = study(
        ("seed = 1", "sede = 1"),
        ("silence = 10 ", "silence = true "),
        ("grades.qrels", "grade.qrels"),
        ("[scale]", '[goal]\nsystems = "runs/*.run"\n[scale]'),
    )
    (path.parent / "documents.jsonl").write_text('{"doc": "a"}\n')
    mistakes = [re.sub(r":\d+", "", mistake).split(";")[0] for mistake in told(path)]
    assert mistakes == [
        "study.toml: there is no setting study.sede",
        "study.toml: there is no file grade.qrels",
        "study.toml: no run file matches runs/*.run",
        "study.toml: work.silence true is not a number",
        "documents.jsonl: document a has no text",
    ]


def test_all_bad_files_are_told_together(study):
    path = study()
    folder = path.parent
    (folder / "documents.jsonl").write_text('{"doc": "a"}\n')
    (folder / "topics.txt").write_text("1\n")
    (folder / "pool.csv").write_text("topic,paper\n1,a\n")
    (folder / "grades.qrels").write_text("1 0 a\n")
    mistakes = told(path)
    assert any(one.startswith("pool.csv:1: the column doc is missing; there are topic, paper") for one in mistakes)
    files = {mistake.split(":")[0] for mistake in mistakes}
    assert files == {"documents.jsonl", "topics.txt", "pool.csv", "grades.qrels"}


def test_documents_without_text_and_topics_without_documents_are_told(study):
    path = study()
    (path.parent / "pool.csv").write_text("topic,doc\n1,bread-box\n1,lost-1\n1,lost-2\n9,bread-box\n")
    mistakes = told(path)
    said = "the pool has no documents for topic 2, but for topic 9 that the topic file does not have"
    assert any(said in mistake for mistake in mistakes)
    assert any("does not have 2 documents: lost-1 (topic 1), lost-2 (topic 1)" in mistake for mistake in mistakes)


def test_a_number_in_quotation_marks_is_named_with_its_cure(study):
    (mistake,) = told(study(("amount = 0 ", 'amount = "0.50" ')))
    assert mistake.endswith("pay.amount '0.50' is not a number; write 0.50 without quotation marks")
    (mistake,) = told(study(('amount = "0.50" ', 'amount = "much" ')))
    assert mistake.endswith("pay.amount 'much' is not a number; what it sets: what a unit pays")


def test_topics_of_the_pool_and_known_grades_that_are_not_there_are_noted(study):
    path = study(("high = [3]", "high = [7]"))
    pool = path.with_name("pool.csv")
    pool.write_text(pool.read_text() + "77,bread-box\n")
    noted = [str(one).partition(": ")[2] for one in check_study(path).warnings]
    assert noted[:2] == [
        "no document has a grade of known.high (7); the grades are 0, 1, 2, 3",
        "the topic file does not have topic 77 of the pool; such rows are not judged: add the topic, or take them out "
        "of the pool",
    ]


def test_what_is_unwise_is_a_warning(study):
    path = study(
        ("documents = 6 ", "documents = 12 "),
        ("[work]", "[work]\nassessors = 2"),
        ("comment = 3 ", "comment = 0 "),
        ("[checks.practice] ", "[checks.review]\n[checks.practice] "),
        ("[known]\nhigh = [3]\nreserve = [2] ", "# "),
        ("low = [0]", ""),
        ("[work]", '[owner]\nwebhook = "https://example.org/"\n[work]'),
        ("amount = 0 ", "budget = 1\namount = 2 "),
    )
    checked = check_study(path)
    assert checked.mistakes == ()
    said = "\n".join(map(str, checked.warnings))
    for part in (
        "no known documents",
        "2 topics have fewer documents than a unit of 12 (first 1)",
        "2 assessors can do 2 units of topic 1, which needs 5",
        "comments are reviewed but not asked for",
        "the budget of 1.00 USD pays for 0 of 10 units; then the study ends; all of them cost 20.00",
        "what the webhook sends is not signed",
    ):
        assert part in said


@pytest.mark.parametrize("known", ["strict", "off"])
def test_a_study_may_do_without_known_documents_on_purpose(study, known):
    path = study(
        ('[grades]\nfile = "grades.qrels"', ""),
        ("[known]\nhigh = [3]\nreserve = [2] ", "# "),
        ("low = [0]", ""),
        ('known = "strict"', f'known = "{known}"'),
        ("This is a small example study.", "We study search."),
    )
    checked = check_study(path)
    assert checked.mistakes == ()
    assert [str(one).partition(": ")[2].partition(":")[0] for one in checked.warnings] == (
        ["no known documents"] if known == "strict" else []
    )


@pytest.mark.parametrize(
    ("size", "cure"), [(6, "invite 5 or lower the"), (2, "invite 15, raise work.units_per_topic or")]
)
def test_the_people_are_counted_who_judge_each_document_once(study, size, cure):
    """Units of a topic's ten documents: with six of them any two units share one, with two they need not."""
    path = study(
        ("documents = 6 ", f"documents = {size} "),
        ("[work]", "[work]\nassessors = 4"),
        ("[known]\nhigh = [3]\nreserve = [2] ", "# "),
        ("low = [0]", ""),
        ("redundancy = 5 ", "redundancy = 3 "),
    )
    said = "\n".join(map(str, check_study(path).warnings))
    assert "nobody judges a document twice" in said
    assert cure in said


@pytest.mark.parametrize("language", ["Deutsch", "English"])
def test_texts_that_are_not_translated_are_named(study, language):
    path = study(('name = "', 'texts = "own.toml"\nname = "'))
    (path.parent / "own.toml").write_text(f'language = "{language}"\n[page]\nnext = "Weiter"\n')
    said = "\n".join(map(str, check_study(path).warnings))
    assert ("texts are not translated: language_code, direction, page.study" in said) == (language == "Deutsch")
    assert "page.next" not in said


def test_loading_raises_the_first_mistake_and_counts_the_others(study):
    path = study(("documents = 6 ", "documents = 0 "), ("redundancy = 5 ", "redundancy = 0 "))
    for load in (read_study, load_study):
        with pytest.raises(InputError, match=r"units\.documents 0 must be at least 1 \(1 more: judgewell check"):
            load(path)


def test_the_frozen_study_forgives_layout_and_lists_changes(study):
    path = study()
    frozen = json.loads(json.dumps(freeze(path)))
    assert changes(frozen, freeze(path)) == []
    study(("# A judging study.", "# Our judging study."), ("[pay]", "[pay]\noverhead = 60.0"))
    assert changes(frozen, freeze(path)) == []
    assert study_hash(freeze(path)) == study_hash(frozen)
    study(("redundancy = 5 ", "redundancy = 7 "), ('"A price list of bakeries"', '"Nothing"'))
    grades = path.parent / "grades.qrels"
    grades.write_text(grades.read_text().replace("bread-box 3", "bread-box 2"))
    assert study_hash(freeze(path)) != study_hash(frozen)
    listed = "; ".join(changes(frozen, freeze(path)))
    assert "units.redundancy: 5 → 7" in listed
    assert "checks.question.1.answers" in listed
    assert "the file grades.qrels has changed" in listed
    assert "\n" not in listed


def test_sections_that_come_and_go_are_told(study):
    path = study()
    before = freeze(path)
    study(("[known]\nhigh = [3]\nreserve = [2] ", "# "), ("low = [0]", ""), ('file = "pool.csv"', 'file = "other.csv"'))
    (path.parent / "other.csv").write_bytes((path.parent / "pool.csv").read_bytes())
    said = changes(before, freeze(path))
    assert "known.high: [3.0] → not set" in said
    assert "the file pool.csv is no longer used" in said
    assert "the file other.csv is new" in said
    assert changes(before, before) == []


def test_every_setting_says_what_it_is_for():
    def sections(model):
        yield model
        for inner in _inner(model):
            yield from sections(inner)

    for model in sections(Study):
        for name, field in model.model_fields.items():
            top = model is Study and name in (
                "study",
                "topics",
                "documents",
                "pool",
                "checks",
                "work",
                "pay",
                "platform",
            )
            assert field.description or name == "kind" or top, (model, name)


def _inner(model):
    from judgewell.study.file import _section_in

    found = (_section_in(field.annotation) for field in model.model_fields.values())
    return [section for section in found if section]


junk = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=5), st.dates()),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=5), inner, max_size=2),
    max_leaves=4,
)


@given(st.sampled_from(list(KINDS)), st.data())
def test_any_value_anywhere_is_either_right_or_a_mistake_in_one_line(kind, data):
    given_settings = tomllib.loads(study_text(kind, "x"))
    here = given_settings
    while True:
        key = data.draw(st.sampled_from(list(here)) if isinstance(here, dict) else st.integers(0, len(here) - 1))
        if not (isinstance(here[key], dict | list) and here[key] and data.draw(st.booleans())):
            break
        here = here[key]
    here[key] = data.draw(junk)
    study, problems = parse(Source(Path("study.toml"), given_settings, {}))
    assert (study is None) == bool(problems)
    for problem in problems:
        assert str(problem).startswith("study.toml: ")
        assert "\n" not in str(problem)


@pytest.mark.parametrize("value", [True, 7, 0.5, [3]])
def test_a_scale_that_is_no_table_is_a_mistake(value):
    settings = tomllib.loads(study_text("ordinal", "x")) | {"scale": value}
    study, problems = parse(Source(Path("study.toml"), settings, {}))
    assert study is None
    assert problems


@pytest.mark.parametrize(("kind", "table"), [("ordinal", "scale"), ("templates", "templates")])
def test_grades_may_have_their_former_name(tmp_path, kind, table):
    new_study(tmp_path / "s", kind)
    path = tmp_path / "s" / "study.toml"
    now, text = read_study(path), path.read_text()
    assert "grades" in text
    path.write_text(text.replace("[[scale.grades]]", "[[scale.levels]]").replace("\ngrades = {", "\nlevels = {"))
    assert path.read_text() != text
    with pytest.warns(JudgewellWarning, match=rf"study.toml: {table}.levels is the former name of {table}.grades"):
        assert read_study(path) == now
