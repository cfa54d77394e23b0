"""A logistic model with crossed random effects: does something change a yes-or-no answer, assessor and topic aside?

logit P(y = 1) = Xβ + Σ_f σ_f v_f, v_f ~ N(0, 1) for each level of each grouping factor (assessor, topic …). The
likelihood integrates v out by Laplace's approximation at its mode v̂ (Breslow & Clayton 1993; as lme4's glmer does):
ℓ(β, σ) = log p(y | β, v̂) − v̂′v̂/2 − log|H|/2, H = I + Λ′Z′WZΛ.
Binary answers with few per assessor bias σ downwards; β is close from about ten answers per assessor on.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl

from judgewell.agreement.common import rows_table
from judgewell.errors import DataError, InputError, note
from judgewell.stats.arrays import Floats, Ints

STEP = 1e-4  # for slopes of the likelihood; columns are standardised, so one size fits all
ROUNDS = 100
SEPARATED = 12.0  # a standardised effect this large means the answers are split without error
AT_ZERO = 1e-3


@dataclass(frozen=True)
class MixedModel:
    """A fitted model: `fixed` (term, estimate, se, z, p_wald, lr, p_lr), `random` (factor, levels, sd) and the rest."""

    fixed: pl.DataFrame
    random: pl.DataFrame
    log_likelihood: float
    converged: bool
    note: str | None


def mixed_logistic(
    data: pl.DataFrame, response: str, fixed: Sequence[str], random: Sequence[str], *, ratio_tests: bool = True
) -> MixedModel:
    """Fit the model; Wald's z for each term, and the likelihood ratio of leaving it out unless `ratio_tests` is off.

    `response` is true/false or 1/0, `fixed` are numbers (an intercept is added), `random` name the grouping factors.
    """
    design = _design(data, response, fixed, random)
    fit = _fit(design, None)
    covariance = _covariance(design, fit)
    trouble = _trouble(design, fit, covariance)
    if trouble:
        note(f"the mixed model {trouble}")
    rows = _fixed_rows(design, fit, covariance)
    if ratio_tests:
        rows = [row | _ratio_test(design, fit, place) for place, row in enumerate(rows)]
    sds = fit.parameters[design.terms :]
    factors = [
        {"factor": name, "levels": size, "sd": float(sd), "variance": float(sd**2)}
        for name, size, sd in zip(random, design.sizes, sds, strict=True)
    ]
    table = rows_table(rows, "se", "z", "p_wald")
    return MixedModel(table, pl.DataFrame(factors), fit.log_likelihood, fit.converged, trouble)


def question_choice_model(
    likes: pl.DataFrame, first: str, second: str, difficulty: pl.DataFrame | None = None
) -> MixedModel:
    """What makes assessors like one question and not another: work done in the topic, and how easy the topic is.

    `likes` is as :func:`judgewell.agreement.likes.question_likes` takes it, with a column unit; answers that like
    exactly one of the two count. `groups` is how many units the assessor did in the topic, `difficulty` the topic's
    mean score (:func:`~judgewell.agreement.likes.topic_difficulty`); assessor and topic are the random effects, which
    Yang et al. 2018 do not name.
    """
    wanted = likes.filter(pl.col("question").is_in([first, second]))
    liked = pl.col("liked").cast(pl.Boolean)
    answers = wanted.group_by("topic", "assessor", "unit", maintain_order=True).agg(
        one=liked.filter(pl.col("question") == first).any(), other=liked.filter(pl.col("question") == second).any()
    )
    chosen = answers.with_columns(groups=pl.len().over("topic", "assessor")).filter(pl.col("one") != pl.col("other"))
    if chosen.is_empty():
        raise DataError(f"no answer likes exactly one of {first} and {second}")
    if difficulty is None:
        return mixed_logistic(chosen, "one", ["groups"], ["assessor", "topic"])
    joined = chosen.join(difficulty.select("topic", "difficulty"), on="topic", how="left", maintain_order="left")
    return mixed_logistic(joined, "one", ["groups", "difficulty"], ["assessor", "topic"])


@dataclass(frozen=True)
class _Design:
    names: list[str]
    y: Floats
    x: Floats  # intercept and standardised columns
    means: Floats
    spreads: Floats
    codes: list[Ints]
    sizes: list[int]
    mode: list[Floats] = field(default_factory=list)  # where the last search for v̂ ended: the next starts there

    @property
    def terms(self) -> int:
        return int(self.x.shape[1])


@dataclass(frozen=True)
class _Fit:
    parameters: Floats
    log_likelihood: float
    converged: bool


def _design(data: pl.DataFrame, response: str, fixed: Sequence[str], random: Sequence[str]) -> _Design:
    if not random:
        raise InputError("a mixed model needs a grouping factor", cure="name the column of assessors or topics")
    for name in (response, *fixed, *random):
        if name not in data.columns:
            raise InputError(f"there is no column {name!r}", cure=f"the columns are {', '.join(data.columns)}")
        if data[name].null_count():
            raise InputError(f"{data[name].null_count()} rows have no {name}", cure="leave them out")
    y = data[response].cast(pl.Float64).to_numpy()
    if not np.isin(y, (0, 1)).all():
        raise InputError(
            f"{response} holds {y[~np.isin(y, (0, 1))][0]:g}", cure="the response is 1 or 0, true or false"
        )
    if y.min(initial=1) == y.max(initial=0):
        raise DataError(f"a logistic model needs both answers; every {response} is {y[0]:g}" if len(y) else "no rows")
    columns = data.select(pl.col(name).cast(pl.Float64) for name in fixed).to_numpy().reshape(len(y), len(fixed))
    means, spreads = columns.mean(axis=0), columns.std(axis=0)
    for name, spread in zip(fixed, spreads, strict=True):
        if spread == 0:
            raise DataError(f"{name} is the same in all {len(y)} rows: its effect cannot be seen")
    x = np.column_stack([np.ones(len(y)), (columns - means) / spreads])
    if np.linalg.matrix_rank(x) < x.shape[1]:
        raise DataError(f"the columns {', '.join(fixed)} determine each other: leave one out")
    codes = [np.unique(data[name].to_numpy(), return_inverse=True)[1].ravel() for name in random]
    sizes = [int(code.max()) + 1 for code in codes]
    for name, size in zip(random, sizes, strict=True):
        if size < 2:
            raise DataError(f"the factor {name} has one level: nothing varies between its levels")
    return _Design(["intercept", *fixed], y, x, means, spreads, codes, sizes)


def _fit(design: _Design, without: int | None, start: Floats | None = None) -> _Fit:
    """The most likely parameters (terms, then standard deviations), with one term held at 0 where asked."""
    from scipy.optimize import minimize

    free = np.array([place != without for place in range(design.terms)] + [True] * len(design.codes))
    first = (
        np.concatenate([_plain_logistic(design), np.full(len(design.codes), 0.5)]) if start is None else start.copy()
    )
    first[~free] = 0.0
    bounds = [(None, None)] * design.terms + [(0.0, None)] * len(design.codes)

    def spread(values: Floats) -> Floats:
        whole = np.zeros(len(free))
        whole[free] = values
        return whole

    def loss(values: Floats) -> float:
        return -laplace_log_likelihood(design, spread(values))

    def slope(values: Floats) -> Floats:
        steps = STEP * np.eye(len(values))
        return np.array([(loss(values + step) - loss(values - step)) / (2 * STEP) for step in steps])

    kept = [bound for bound, is_free in zip(bounds, free, strict=True) if is_free]
    optimum = minimize(
        loss, first[free], jac=slope, bounds=kept, method="L-BFGS-B", options={"ftol": 1e-13, "gtol": 1e-5}
    )
    best = spread(optimum.x)
    gradient = slope(optimum.x)
    at_bound = (optimum.x <= 0) & (gradient > 0) & (np.array([bound[0] == 0.0 for bound in kept]))
    settled = bool(np.abs(gradient[~at_bound]).max(initial=0) < 1e-3 * max(1.0, np.sqrt(len(design.y))))
    return _Fit(best, -float(optimum.fun), settled)


def laplace_log_likelihood(design: _Design, parameters: Floats) -> float:
    """ℓ(β, σ) at the mode of the random effects, found by Newton's method from where the last search ended."""
    beta, sds = parameters[: design.terms], np.abs(parameters[design.terms :])
    base = design.x @ beta
    effects = design.mode[0] if design.mode else np.zeros(sum(design.sizes))
    value = _penalised(design, base, sds, effects)
    for _ in range(ROUNDS):
        eta = base + _effect(design, sds, effects)
        p = _logistic(eta)
        gradient = _transpose(design, sds, design.y - p) - effects
        step, _ = _solve(design, sds, p * (1 - p), gradient)
        size = 1.0
        while (better := _penalised(design, base, sds, effects + size * step)) < value - 1e-12 and size > 1e-6:
            size /= 2
        effects, value = effects + size * step, better
        if np.abs(size * step).max() < 1e-9:
            break
    design.mode[:] = [effects]
    p = _logistic(base + _effect(design, sds, effects))
    _, log_determinant = _solve(design, sds, p * (1 - p), np.zeros(len(effects)))
    return float(value - log_determinant / 2)


def _penalised(design: _Design, base: Floats, sds: Floats, effects: Floats) -> float:
    eta = base + _effect(design, sds, effects)
    return float((design.y * eta - np.logaddexp(0, eta)).sum() - effects @ effects / 2)


def _effect(design: _Design, sds: Floats, effects: Floats) -> Floats:
    """Zσv: each row's sum of its levels' effects."""
    parts = np.split(effects, np.cumsum(design.sizes)[:-1])
    rows = [sd * part[code] for sd, part, code in zip(sds, parts, design.codes, strict=True)]
    return np.asarray(np.sum(rows, axis=0), dtype=np.float64)


def _transpose(design: _Design, sds: Floats, rows: Floats) -> Floats:
    """(Zσ)′r: each level's sum over its rows."""
    parts = [
        sd * np.bincount(code, weights=rows, minlength=size)
        for sd, code, size in zip(sds, design.codes, design.sizes, strict=True)
    ]
    return np.concatenate(parts)


def _solve(design: _Design, sds: Floats, weights: Floats, right: Floats) -> tuple[Floats, float]:
    """H⁻¹r and log|H|, H = I + σZ′WZσ; the largest factor's block is diagonal and is eliminated first."""
    big = int(np.argmax(design.sizes))
    places = np.cumsum([0, *design.sizes])
    others = [factor for factor in range(len(design.sizes)) if factor != big]
    diagonal = 1 + sds[big] ** 2 * np.bincount(design.codes[big], weights=weights, minlength=design.sizes[big])
    of_big = slice(places[big], places[big + 1])
    if not others:
        return right / diagonal, float(np.log(diagonal).sum())
    across = np.hstack([sds[big] * sds[f] * _table(design, big, f, weights) for f in others])
    inner = np.block([[sds[f] * sds[g] * _table(design, f, g, weights) for g in others] for f in others])
    inner += np.eye(len(inner))
    scaled = across / diagonal[:, None]
    lower = np.linalg.cholesky(inner - across.T @ scaled)
    rest = np.concatenate([np.arange(places[f], places[f + 1]) for f in others])
    half = np.linalg.solve(lower, right[rest] - scaled.T @ right[of_big])
    small = np.linalg.solve(lower.T, half)
    solved = np.empty(len(right))
    solved[rest] = small
    solved[of_big] = right[of_big] / diagonal - scaled @ small
    return solved, float(np.log(diagonal).sum() + 2 * np.log(np.diagonal(lower)).sum())


def _table(design: _Design, one: int, other: int, weights: Floats) -> Floats:
    """The weights of the rows in every level of one factor and every level of another."""
    rows, columns = design.sizes[one], design.sizes[other]
    cell = design.codes[one] * columns + design.codes[other]
    return np.asarray(np.bincount(cell, weights=weights, minlength=rows * columns).reshape(rows, columns))


def _logistic(eta: Floats) -> Floats:
    from scipy.special import expit

    return np.asarray(expit(eta), dtype=np.float64)


def _plain_logistic(design: _Design) -> Floats:
    """Terms of the model without random effects, a place to start."""
    beta = np.zeros(design.terms)
    for _ in range(25):
        p = _logistic(design.x @ beta)
        curvature = design.x.T @ (design.x * (p * (1 - p))[:, None]) + 1e-6 * np.eye(design.terms)
        step = np.linalg.solve(curvature, design.x.T @ (design.y - p))
        beta += np.clip(step, -2, 2)
        if np.abs(step).max() < 1e-8:
            break
    return beta


def _covariance(design: _Design, fit: _Fit) -> Floats | None:
    """The inverse curvature of the likelihood in terms and standard deviations; those at 0 are held there."""
    free = [place for place, value in enumerate(fit.parameters) if place < design.terms or value > AT_ZERO]
    size, step = len(free), 1e-3

    def at(*moves: tuple[int, float]) -> float:
        moved = fit.parameters.copy()
        for place, by in moves:
            moved[free[place]] += by
        return laplace_log_likelihood(design, moved)

    curvature = np.empty((size, size))
    for i in range(size):
        for j in range(i, size):
            corners = (at((i, step), (j, step)) - at((i, step), (j, -step)) - at((i, -step), (j, step))
                       + at((i, -step), (j, -step)))  # fmt: skip
            curvature[i, j] = curvature[j, i] = -corners / (4 * step * step)
    if np.linalg.eigvalsh(curvature).min() <= 0:
        return None
    return np.asarray(np.linalg.inv(curvature)[: design.terms, : design.terms])


def _fixed_rows(design: _Design, fit: _Fit, covariance: Floats | None) -> list[dict[str, Any]]:
    """Terms and standard errors on the columns' own scale."""
    from scipy.stats import norm

    back = np.diag(np.concatenate([[1.0], 1 / design.spreads]))
    back[0, 1:] = -design.means / design.spreads
    estimates = back @ fit.parameters[: design.terms]
    rows = []
    for place, name in enumerate(design.names):
        row: dict[str, Any] = {"term": name, "estimate": float(estimates[place]), "se": None, "z": None, "p_wald": None}
        if covariance is not None:
            se = float(np.sqrt(back[place] @ covariance @ back[place]))
            z = float(estimates[place] / se)
            row |= {"se": se, "z": z, "p_wald": float(2 * norm.sf(abs(z)))}
        rows.append(row)
    return rows


def _ratio_test(design: _Design, fit: _Fit, place: int) -> dict[str, float | None]:
    """Twice the log-likelihood lost without a term, against χ² on one degree; the intercept is not tested."""
    from scipy.stats import chi2

    if place == 0:
        return {"lr": None, "p_lr": None}
    without = _fit(design, place, fit.parameters)
    lost = max(0.0, 2 * (fit.log_likelihood - without.log_likelihood))
    return {"lr": lost, "p_lr": float(chi2.sf(lost, 1))}


def _trouble(design: _Design, fit: _Fit, covariance: Floats | None) -> str | None:
    largest = int(np.abs(fit.parameters[: design.terms]).argmax())
    if abs(fit.parameters[largest]) > SEPARATED:
        return f"has no finite estimate: {design.names[largest]} splits the answers without error"
    if not fit.converged:
        return "did not converge: its likelihood still rises where the search ended"
    if covariance is None:
        return "has no standard errors: its likelihood is flat at the best estimate"
    return None
