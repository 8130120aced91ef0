"""What a model call costs, in Decimal USD.  Source: providers.md 9.

Every call is priced by itself, on its own model, provider, time and tier; the Decimals are then summed.  What
is not known is None, never 0 and never a guess.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from decimal import Decimal, InvalidOperation
from fnmatch import fnmatchcase
from types import MappingProxyType
from typing import Any, Final, Protocol, cast

from deuz_nb.errors import MisuseError
from deuz_nb.parts.stream import CallWarning
from deuz_nb.parts.usage import JSON, JSONObject, Usage, usage_total

__all__ = [
    "LOCAL_HOSTS",
    "FirstOf",
    "GenaiPrices",
    "Price",
    "PriceProvider",
    "PriceTable",
    "Rates",
    "reported_price",
    "sum_usd",
    "unpriced_warning",
]

LOCAL_HOSTS: Final = frozenset({"ollama", "lmstudio", "vllm", "sglang", "llamacpp"})
"""Hosts that run on the user's own machines: what a call costs there is not known."""

_MILLION: Final = Decimal(1_000_000)
_ZERO: Final = Decimal(0)

_GENAI_IDS: Final[Mapping[str, str]] = MappingProxyType({"openai-responses": "openai", "xai": "x-ai"})
"""Our provider slugs where genai-prices has another id."""

_RATED_TIERS: Final = frozenset({"batch", "fast", "flex", "priority", "scale"})
"""Tiers with rates of their own; any other word is the standard one."""

_PER_PROMPT: Final = ("gemini-1", "gemini-2")
"""Models whose searches are billed once per grounded prompt, not once per query."""


@dataclass(frozen=True, slots=True)
class Price:
    """One call's price in USD; `total` is the sum of its parts.

    `input` is fresh input only, `tools` what the provider's own tools cost (web searches).  The parts are
    None where only the total is known.  `source` is "provider", "table", or "genai-prices".
    """

    input: Decimal | None
    output: Decimal | None
    cache_read: Decimal | None
    cache_write: Decimal | None
    total: Decimal
    source: str
    tools: Decimal | None = None


class PriceProvider(Protocol):
    """Anything that prices calls."""

    def price(
        self, usage: Usage, *, model: str, provider: str, at: datetime, tier: str | None = None
    ) -> Price | None:
        """The price of one call's own usage (never of a sum), or None when it is not known.

        `model` is the model that answered; where its name is a deployment's, the model behind it.  `at` is
        when it was asked (UTC when it has no zone), `tier` the service tier that the answer names.
        """
        ...


@dataclass(frozen=True, slots=True)
class Rates:
    """USD per million tokens, and per web search in `search`.

    A missing cache rate is the next wider one: long writes cost as writes, writes and reads as input.
    Numbers and strings are taken too.  Raises MisuseError for anything that is no amount.
    """

    input: Decimal
    output: Decimal
    cache_read: Decimal | None = None
    cache_write: Decimal | None = None
    cache_write_long: Decimal | None = None
    search: Decimal | None = None

    def __post_init__(self) -> None:
        for field in fields(self):
            given: object = getattr(self, field.name)
            if given is None and field.name not in ("input", "output"):
                continue
            amount = _amount(given)
            if amount is None:
                hint = "use USD per million tokens, such as 2.5"
                raise MisuseError(f"{field.name}={given!r} is no rate; {hint}")
            object.__setattr__(self, field.name, amount)

    def price(self, usage: Usage) -> Price:
        """What these rates make of a usage."""
        read = self.input if self.cache_read is None else self.cache_read
        write = self.input if self.cache_write is None else self.cache_write
        long = write if self.cache_write_long is None else self.cache_write_long
        fresh = usage["inputTokens"] * self.input / _MILLION
        output = usage["outputTokens"] * self.output / _MILLION
        cached = usage["cachedReadTokens"] * read / _MILLION
        written = (usage["cacheWriteTokens"] * write + usage["cacheWrite1hTokens"] * long) / _MILLION
        tools = usage.get("serverToolUses", 0) * (self.search or _ZERO)
        total = fresh + output + cached + written + tools
        return Price(fresh, output, cached, written, total, "table", tools)


class PriceTable:
    """The user's own prices: patterns and their rates, the first that matches counts.

    A pattern is a model id, or `provider:model`, in which `*` stands for anything and case does not matter:
    `PriceTable({"anthropic:claude-sonnet-*": {"input": 2, "output": 10}, "my-model": Rates(1, 3)})`.
    """

    def __init__(self, rates: Mapping[str, Rates | Mapping[str, Any]]) -> None:
        self._rates = [(pattern.lower(), _rates(pattern, given)) for pattern, given in rates.items()]

    def price(
        self, usage: Usage, *, model: str, provider: str, at: datetime, tier: str | None = None
    ) -> Price | None:
        """The price by the first pattern that matches; a table does not tell times and tiers apart."""
        names = (model.lower(), f"{provider}:{model}".lower())
        for pattern, rates in self._rates:
            if any(fnmatchcase(name, pattern) for name in names):
                return rates.price(usage)
        return None

    def __repr__(self) -> str:
        return f"<PriceTable of {len(self._rates)} patterns>"


class FirstOf:
    """Asks several price providers in their order; the first that knows counts."""

    def __init__(self, *providers: PriceProvider) -> None:
        self.providers = providers

    def price(
        self, usage: Usage, *, model: str, provider: str, at: datetime, tier: str | None = None
    ) -> Price | None:
        """The first price that is known."""
        for known in self.providers:
            price = known.price(usage, model=model, provider=provider, at=at, tier=tier)
            if price is not None:
                return price
        return None

    def __repr__(self) -> str:
        return f"FirstOf({', '.join(map(repr, self.providers))})"


class GenaiPrices:
    """Prices from the data in genai-prices: offline, imported on first use.

    Without that package nothing is priced; `unpriced_warning` then says what to install.
    """

    @property
    def is_installed(self) -> bool:
        """Whether genai-prices can be imported."""
        return _genai() is not None

    def price(
        self, usage: Usage, *, model: str, provider: str, at: datetime, tier: str | None = None
    ) -> Price | None:
        """The price by the rates of that provider at that time.

        Audio counts as input as far as that goes, where both directions have a rate for it: usage does not
        tell them apart.  None also for long cache writes and for tiers that the data has no rate for.
        """
        genai = _genai()
        host = _GENAI_IDS.get(provider, provider)
        if genai is None or not host or host in LOCAL_HOSTS:
            return None
        word = (tier or "").lower()
        context = (
            {"processing" if word == "batch" else "service_tier": word} if word in _RATED_TIERS else None
        )
        asked: dict[str, Any] = {
            "provider_id": host,
            "genai_request_timestamp": at if at.tzinfo is not None else at.replace(tzinfo=UTC),
        }
        if context is not None:
            asked["price_context"] = context
        try:
            known = genai.calc_price(genai.Usage(), model, **asked)
            # Ids are matched in part too: a host of the user's own must not be taken for another.
            if known.provider.id != host or not _has_tier(known, context, asked["genai_request_timestamp"]):
                return None
            tokens = _tokens(usage, known.model_price, is_per_prompt=model.startswith(_PER_PROMPT))
            if tokens is None:
                return None
            return _from_genai(usage, genai.calc_price(genai.Usage(**tokens), model, **asked))
        except (LookupError, ValueError):
            return None

    def __repr__(self) -> str:
        return "GenaiPrices()"


def reported_price(raw_usage: JSON, *, provider: str) -> Price | None:
    """The cost that the provider itself reported in its raw usage object; None when it reported none.

    Only OpenRouter's is known to be in USD.  With the user's own key at the model's provider (`is_byok`) it is
    OpenRouter's fee alone, and what the provider charges comes on top.
    """
    if provider != "openrouter" or not isinstance(raw_usage, dict):
        return None
    raw = cast("JSONObject", raw_usage)
    total = _amount(raw.get("cost"))
    if total is not None and raw.get("is_byok") is True:
        details = raw.get("cost_details")
        given = cast("JSONObject", details) if isinstance(details, dict) else {}
        charged = _amount(given.get("upstream_inference_cost"))
        total = None if charged is None else total + charged
    return None if total is None else Price(None, None, None, None, total, "provider")


def sum_usd(amounts: Iterable[Decimal | None]) -> Decimal | None:
    """The sum of the known amounts; None when there is none."""
    known = [amount for amount in amounts if amount is not None]
    return sum(known, _ZERO) if known else None


def unpriced_warning(prices: PriceProvider, *, model: str, provider: str) -> CallWarning:
    """The warning for a call without a price: why, and what to do.  Give it once per model."""
    known = prices.providers if isinstance(prices, FirstOf) else (prices,)
    own = "pass prices=PriceTable({...}) to give your own"
    if provider in LOCAL_HOSTS:
        why = f"{provider} runs on your own machine; {own}"
    elif any(isinstance(each, GenaiPrices) and not each.is_installed for each in known):
        why = "the price data is not installed: pip install 'deuz-nb[prices]'"
    else:
        why = f"its rates are not known; {own}"
    message = f"no price for {model!r} at {provider!r}: {why}"
    return {"type": "unpriced-model", "setting": model, "message": message}


def _amount(given: object) -> Decimal | None:
    """A number or a number's text as a finite amount of at least 0, else None."""
    if isinstance(given, bool) or not isinstance(given, int | float | str | Decimal):
        return None
    try:
        # Through repr, a float is the number its JSON text says.
        amount = Decimal(repr(given)) if isinstance(given, float) else Decimal(given)
    except InvalidOperation:
        return None
    return amount if amount.is_finite() and amount >= 0 else None


def _rates(pattern: str, given: Rates | Mapping[str, Any]) -> Rates:
    if isinstance(given, Rates):
        return given
    try:
        return Rates(**given)
    except TypeError:
        known = ", ".join(field.name for field in fields(Rates))
        hint = f"rates need input and output, and may have others of {known}"
        raise MisuseError(f"the rates of {pattern!r} are {dict(given)!r}; {hint}") from None


def _genai() -> Any:
    """The package, or None where it is not installed."""
    try:
        return importlib.import_module("genai_prices")
    except ImportError:
        return None


def _has_tier(found: Any, context: Mapping[str, str] | None, at: datetime) -> bool:
    """Whether the data has rates for this tier at this time; without them it would give the standard ones."""
    if context is None:
        return True
    if not any(model is found.model for model in found.provider.models):
        return False
    return any(
        variant.when.items() <= context.items()
        for variant in found.model.price_variants or ()
        if variant.constraint is None or variant.constraint.active(at)
    )


def _tokens(usage: Usage, rates: Any, *, is_per_prompt: bool) -> dict[str, int] | None:
    """The usage as genai-prices counts it; None where the data lacks a rate that it needs."""
    fresh, long = usage["inputTokens"], usage["cacheWrite1hTokens"]
    cached, written = usage["cachedReadTokens"], usage["cacheWriteTokens"] + long
    whole, output = fresh + cached + written, usage["outputTokens"]
    if (whole and rates.input_mtok is None) or (output and rates.output_mtok is None):
        return None
    if rates.input_mtok is None and rates.output_mtok is None:
        return None
    # Without a rate of their own, long writes would be charged as short ones.
    if long and rates.cache_write_1h_mtok is None and rates.cache_write_mtok is not None:
        return None
    tokens = {
        "input_tokens": whole,
        "cache_read_tokens": cached,
        "cache_write_tokens": written,
        "cache_write_1h_tokens": long,
        "output_tokens": output,
    }
    audio = usage.get("audioTokens", 0)
    heard = min(audio, fresh) if rates.input_audio_mtok is not None else 0
    spoken = min(audio - heard, output) if rates.output_audio_mtok is not None else 0
    if heard:
        # Reported together with cached tokens, audio needs to be told how much of it was cached.
        tokens |= {"input_audio_tokens": heard, "cache_audio_read_tokens": 0, "cache_audio_write_tokens": 0}
    if spoken:
        tokens["output_audio_tokens"] = spoken
    searches = usage.get("serverToolUses", 0)
    if searches:
        tokens["web_searches"] = min(searches, 1) if is_per_prompt else searches
    return tokens


def _from_genai(usage: Usage, found: Any) -> Price:
    """The price with its cache parts told apart, which genai-prices counts as input."""
    rates = found.model_price
    whole = usage_total(usage) - usage["outputTokens"]

    def part(tokens: int, *names: str) -> Decimal:
        rate: Any = next((given for name in names if (given := getattr(rates, name)) is not None), _ZERO)
        if not isinstance(rate, Decimal):
            # The tier is chosen by the whole prompt, and holds for all of it.
            rate = next((tier.price for tier in reversed(rate.tiers) if whole > tier.start), rate.base)
        return tokens * rate / _MILLION

    cache_read = part(usage["cachedReadTokens"], "cache_read_mtok", "input_mtok")
    cache_write = part(
        usage["cacheWriteTokens"], "cache_write_5m_mtok", "cache_write_mtok", "input_mtok"
    ) + part(usage["cacheWrite1hTokens"], "cache_write_1h_mtok", "cache_write_mtok", "input_mtok")
    return Price(
        input=found.input_price - cache_read - cache_write,
        output=found.output_price,
        cache_read=cache_read,
        cache_write=cache_write,
        total=found.total_price,
        source="genai-prices",
        tools=found.total_price - found.input_price - found.output_price,
    )
