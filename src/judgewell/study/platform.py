"""Where assessors come from and what they take back: the study file's `[platform]`."""

from __future__ import annotations

import re
from typing import Literal

from pydantic import field_validator, model_validator

from judgewell.study.section import Section, setting

PROLIFIC_KEYS = "https://api.prolific.com/.well-known/study/jwks.json"
RETURN_FIELDS = ("code", "assessor", "session", "study")  # what a return link may carry


class Codes(Section):
    completed: str = setting("the code for work that is done", "")
    no_consent: str = setting("the code for those who do not take part", "")
    failed_comprehension: str = setting("the code for those who did not understand the topic", "")
    failed_quality: str = setting("the code for work that failed the checks", "")
    no_work: str = setting("the code for those who came when nothing was left to do", "")


class Platform(Section):
    kind: Literal["invite", "prolific", "panel"] = setting("where assessors come from", "invite")
    assessor: str = setting("the address's parameter with the assessor's id", "PROLIFIC_PID", min_length=1)
    session: str = setting("the address's parameter with the submission's id", "SESSION_ID", min_length=1)
    study: str = setting("the address's parameter with the study's id", "STUDY_ID", min_length=1)
    return_link: str = setting(
        "where assessors go at the end, with {code} for the code; {assessor}, {session} and {study} for the ids",
        "https://app.prolific.com/submissions/complete?cc={code}",
    )
    codes: Codes = setting("the completion codes, one for each ending", Codes())
    token: str = setting("the address's parameter with a signed token; empty where there is none", "")
    keys: str = setting("https address or file of the keys that tokens are signed with; Prolific's when empty", "")
    audience: str = setting("whom the tokens must be made for: the address that the platform sends people to", "")
    issuer: str = setting("who must have made the tokens; anybody with the keys when empty", "")
    claims: str = setting("the token's claim that holds the ids; empty if they are at the top level", "prolific")
    claim_assessor: str = setting("the claim with the assessor's id; named as the parameter when empty", "")
    claim_session: str = setting("the claim with the submission's id; named as the parameter when empty", "")
    claim_study: str = setting("the claim with the study's id; named as the parameter when empty", "")
    webhook_secret: str = setting(
        "the environment variable that holds the webhooks' secret, e.g. PROLIFIC_SECRET; never the secret itself",
        "",
        pattern=r"^([A-Z_][A-Z0-9_]*)?$",
    )

    @field_validator("return_link")
    @classmethod
    def _safe(cls, link: str) -> str:
        host, _, rest = link.removeprefix("https://").partition("/")
        strange = set(re.findall(r"\{([^{}]*)\}", rest)) - set(RETURN_FIELDS)
        if not link.startswith("https://") or "{code}" not in rest:
            raise ValueError("must begin with https:// and hold {code} behind the host's name")
        if not re.fullmatch(r"[A-Za-z0-9.-]+(:[0-9]+)?", host) or strange:
            names = ", ".join(f"{{{name}}}" for name in RETURN_FIELDS)
            raise ValueError(f"may hold {names} behind a plain host's name, and nothing else in braces")
        return link

    @field_validator("keys")
    @classmethod
    def _private(cls, keys: str) -> str:
        if "://" in keys and not keys.startswith("https://"):
            raise ValueError("must be an address with https:// or the name of a file")
        return keys

    @model_validator(mode="after")
    def _complete(self) -> Platform:
        if self.kind != "invite" and not self.codes.completed:
            raise ValueError(f"{self.kind} needs codes.completed, the code that says the work is done")
        if self.token and not (self.key_source and self.audience):
            raise ValueError("a signed token needs keys and audience to be checked against")
        if len({self.assessor, self.session, self.study, self.token}) < 4:
            raise ValueError("the parameters for assessor, session, study and token need names of their own")
        if self.webhook_secret and self.kind != "prolific":
            raise ValueError("webhooks are understood from prolific only; leave webhook_secret out")
        return self

    def invites(self, origin: str) -> bool:
        """Whether an assessor of this origin came by an invite link."""
        return "invite" in (self.kind, origin)

    def pays(self, origin: str) -> bool:
        """Whether the study pays an assessor of this origin: where it has a platform, only those whom that sent."""
        return self.kind == "invite" or origin != "invite"

    @property
    def key_source(self) -> str:
        """Where the keys are published: as set, or Prolific's own address."""
        return self.keys or (PROLIFIC_KEYS if self.kind == "prolific" else "")
