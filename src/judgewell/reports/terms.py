"""The terms that a report explains: each is linked where it is first used, and those used are listed on the page."""

from __future__ import annotations

import re

from markupsafe import Markup, escape

TERMS = {
    "gain": "how useful it is to find a document, as a number; a measure adds up the gains of a ranking",
    "top set": "the systems of which one is the best with 95 % confidence; a system with a lower mean can be in "
    "it where its differences vary more over topics. It comes from a test against all other systems, plausible ranks "
    "come from resamples, and the two can disagree: the top set is what to cite for which system is best",
    "resamples": "repetitions of the analysis with topics, and judgments where single ones are known, drawn again at "
    "random: they show what other topics or judgments would have given",
    "95 % interval": "a range made so that in 95 of 100 such studies it holds the true value. For a document’s gain "
    "it is over other judgments, for α and κ over other documents or assessors, for τ-b and ranks over resamples. For "
    "a system’s mean it is a symmetric studentised bootstrap over topics (Student’s t with fewer than 10 topics or "
    "where resamples do not vary, normal with more than 2,000, Clopper and Pearson’s where every topic scores the "
    "least or the most that the measure allows), for a difference of two systems Student’s t",
    "binary measure": "P, R, AP, RR and the like count a document as relevant or not: relevant is one whose gain is "
    "at least rel, as in P(rel=2)@10; without rel, at least 1",
    "Holm’s correction": "keeps the chance of even one false difference among all pairs at 5 %",
    "Krippendorff’s α": "agreement between assessors: 1 is perfect, 0 is what chance gives",
    "κ": "agreement of two assessors or label sets on grades: 1 is perfect, 0 is what chance gives",
    "τ-b": "Kendall’s correlation of two rankings: 1 is the same order, 0 is no relation, −1 is the reverse",
    "label set": "grades of the same documents from elsewhere, such as qrels",
    "unit": "the documents that one assessor judges for one topic in one go",
    "known document": "a document whose relevance is known, which checks whether assessors pay attention",
    "Spearman–Brown": "predicts the reliability of all judgments from that of one half of them",
    "nDCG": "a measure of a ranking from 0 to 1: gains found early count more, relative to the best possible ranking",
    "residual": "how much a score could still rise if every unjudged document were relevant",
}
_SPELLINGS = {
    "resamples": "resamples?", "gain": "gains?", "95 % interval": "95[ \u00a0]% intervals?", "label set": "label sets?",
    "binary measure": r"(?:P|R|AP|RR|Success|Rprec)(?:\(rel=[\d.]+\))?(?:@\d+)|AP(?:\(rel=[\d.]+\))?|RR",
    "unit": "units?", "known document": "known documents?", "τ-b": "τ[-\u2011]b",
}  # fmt: skip
_ANY = re.compile(
    "|".join(
        rf"(?P<t{place}>(?<![\w-]){_SPELLINGS.get(term, re.escape(term))}(?![\w-]))" for place, term in enumerate(TERMS)
    )
)


class Explained:
    """Turns text into HTML in which the first use of each term links to its explanation."""

    def __init__(self) -> None:
        self.used: set[str] = set()

    def __call__(self, text: str) -> Markup:
        return Markup(_ANY.sub(self._link, str(escape(text))))

    def _link(self, match: re.Match[str]) -> str:
        term = list(TERMS)[int((match.lastgroup or "t0")[1:])]
        if term in self.used:
            return match[0]
        self.used.add(term)
        return f'<a class="term" href="#{anchor(term)}">{match[0]}</a>'

    @property
    def listed(self) -> list[tuple[str, str, str]]:
        """The terms used so far, in alphabetical order: anchor, term, explanation."""
        return [(anchor(term), term, TERMS[term]) for term in sorted(self.used, key=str.casefold)]


def anchor(term: str) -> str:
    return "term-" + re.sub(r"\W+", "-", term).strip("-")
