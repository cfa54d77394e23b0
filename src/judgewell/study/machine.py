"""The `[machine]` table of the study file: which models judge, how they are asked, and what that may cost."""

from __future__ import annotations

import re
from typing import Annotated, Literal

from pydantic import BeforeValidator, ValidationInfo, field_validator

from judgewell.study.section import Section, address_parts, many, setting


class Machine(Section):
    """Models that judge as assessors; nothing here changes what people are asked, so it may change at any time."""

    model: Annotated[list[str], BeforeValidator(many)] = setting("the model's name at the server, or several", [])
    endpoint: str = setting("the address of a server that speaks chat completions, e.g. http://127.0.0.1:11434/v1", "")
    api_key_env: str = setting("the environment variable that holds the key; never the key itself", "")
    prompt: str | None = setting("a prompt file of your own instead of the scale's", None)
    samples: int = setting("how many assessors each model is; each judges every document", 1, ge=1, le=100)
    temperature: float | None = setting("the sampling temperature; the server's own when not set", 0.0, ge=0)
    seed: int | None = setting("the first sample's seed, where the server takes one", None, ge=0)
    max_tokens: int = setting("the longest reply, in tokens", 400, ge=1)
    structured: Literal["auto", "schema", "object", "off"] = setting(
        "ask for JSON by schema, as an object, or in words alone; auto takes the first that the server knows", "auto"
    )
    logprobs: bool = setting("ask for token probabilities", True)
    both_orders: bool = setting("show every pair in both orders", True)
    longest: int = setting("the characters of a document that are sent; the rest is cut", 24_000, ge=100)
    tries: int = setting("how often a place is asked when the reply is refused or cannot be read", 3, ge=1)
    retries: int = setting(
        "how often a request is sent again when the server fails, or is busy and answers no other request", 6, ge=0
    )
    timeout: float = setting("seconds to wait for a reply", 120.0, gt=0)
    concurrency: int = setting("how many requests are under way at a time", 8, ge=1, le=1000)
    price_in: float = setting("the price of a million tokens sent", 0.0, ge=0)
    price_out: float = setting("the price of a million tokens received", 0.0, ge=0)
    currency: str = setting("the currency of the prices", "USD", min_length=1)
    budget: float | None = setting("the most that all replies of the study may cost", None, gt=0)
    budget_tokens: int | None = setting("the most tokens that all replies may take, sent and received", None, ge=1)

    @field_validator("api_key_env")
    @classmethod
    def _name(cls, name: str) -> str:
        """A key that was written here by mistake must not be shown."""
        if name and not re.fullmatch(r"[A-Z_][A-Z0-9_]*", name):
            raise ValueError("this is not the name of a variable; write one such as MODEL_KEY and set it to the key")
        return name

    @field_validator("endpoint")
    @classmethod
    def _plain(cls, address: str) -> str:
        """An address is kept with every machine, so no secret may be in it."""
        if not address:
            return address
        parts = address_parts(address)
        if parts is None or parts.scheme not in ("http", "https"):
            raise ValueError("this is not an address; write http://host:port/v1 or https://host/v1")
        if parts.username is not None or parts.query or parts.fragment:
            raise ValueError("the address must hold no user name, password, ?part or #part; name the key's variable")
        return address.rstrip("/")

    @field_validator("budget")
    @classmethod
    def _priced(cls, budget: float | None, info: ValidationInfo) -> float | None:
        """Without prices every reply would cost nothing, and the budget would never be reached."""
        if budget is not None and not (info.data.get("price_in") or info.data.get("price_out")):
            raise ValueError("a budget in money needs price_in or price_out; set them, or set budget_tokens instead")
        return budget

    def cost(self, tokens_in: int, tokens_out: int) -> float:
        """What so many tokens cost."""
        return (tokens_in * self.price_in + tokens_out * self.price_out) / 1e6
