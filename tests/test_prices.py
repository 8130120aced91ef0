"""Prices: per call, in Decimal, and unknown where something is not known."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Mapping
from dataclasses import astuple
from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deuz_nb.errors import MisuseError
from deuz_nb.parts.usage import Usage, empty_usage, usage_total
from deuz_nb.prices import (
    FirstOf,
    GenaiPrices,
    Price,
    PriceProvider,
    PriceTable,
    Rates,
    reported_price,
    sum_usd,
    unpriced_warning,
)

AT = datetime(2026, 11, 18, 8, 42, tzinfo=UTC)
GENAI = GenaiPrices()
D = Decimal


def usage(
    fresh: int = 0,
    output: int = 0,
    *,
    read: int = 0,
    write: int = 0,
    long: int = 0,
    reasoning: int = 0,
    audio: int | None = None,
    searches: int | None = None,
) -> Usage:
    found: Usage = {
        **empty_usage(),
        "inputTokens": fresh,
        "outputTokens": output,
        "cachedReadTokens": read,
        "cacheWriteTokens": write,
        "cacheWrite1hTokens": long,
        "reasoningTokens": reasoning,
    }
    if audio is not None:
        found["audioTokens"] = audio
    if searches is not None:
        found["serverToolUses"] = searches
    found["totalTokens"] = usage_total(found)
    return found


def priced(
    took: Usage, model: str, provider: str, *, at: datetime = AT, tier: str | None = None
) -> Price | None:
    return GENAI.price(took, model=model, provider=provider, at=at, tier=tier)


def total(took: Usage, model: str, provider: str, **asked: Any) -> Decimal | None:
    price = priced(took, model, provider, **asked)
    return None if price is None else price.total


def test_three_priced_steps_and_a_local_one_sum_to_three_decimals_and_one_unpriced_call() -> None:
    steps = [
        (usage(412, 341, read=2304, write=512), "claude-opus-5-5", "anthropic"),
        (usage(41, 489, reasoning=192), "gpt-6.1-sol", "openai-responses"),
        (usage(196, 407), "gemini-3.8-flash", "google"),
        (usage(24, 78), "qwen3:8b", "ollama"),
    ]
    totals = [total(took, model, provider) for took, model, provider in steps]
    assert totals == [D("0.0114888"), D("0.004972"), D("0.00167325"), None]
    assert sum_usd(totals) == D("0.0114888") + D("0.004972") + D("0.00167325")
    assert totals.count(None) == 1


def test_price_tells_its_parts_and_they_sum_to_the_total() -> None:
    took = usage(412, 341, read=2304, write=512, long=100, searches=2)
    assert priced(took, "claude-opus-5-5", "anthropic") == Price(
        input=D(412) * 4 / 10**6,
        output=D(341) * 20 / 10**6,
        cache_read=D(2304) * D("0.2") / 10**6,
        cache_write=(D(512) * 5 + D(100) * 8) / 10**6,
        tools=D("0.02"),
        total=D("0.0122888") + D("0.02"),
        source="genai-prices",
    )


UNKNOWN: dict[str, tuple[str, str]] = {
    "model": ("claude-nope-9", "anthropic"),
    "provider": ("claude-opus-5-5", "acme"),
    "no provider": ("claude-opus-5-5", ""),
    "no model": ("", "anthropic"),
    "a host whose name holds another's": ("gpt-4o", "my-openai-proxy"),
    "a proxy that names the provider in the model": ("openai/gpt-4o", "litellm"),
    "ollama": ("llama3.2", "ollama"),
    "vllm": ("gpt-4o", "vllm"),
    "lmstudio": ("gpt-4o", "lmstudio"),
    "llamacpp": ("gpt-4o", "llamacpp"),
    "a deployment's name": ("my-deployment", "azure"),
    "a deployment whose name holds a model's": ("prod-gpt-4o-mini", "azure"),
    "a model that is not priced by tokens": ("whisper-1", "openai"),
}


@pytest.mark.parametrize("case", UNKNOWN)
def test_what_is_not_known_has_no_price(case: str) -> None:
    model, provider = UNKNOWN[case]
    assert priced(usage(1000, 1000), model, provider) is None


SLUGS = {
    "anthropic": "claude-opus-5-5",
    "openai": "gpt-6.1-sol",
    "openai-responses": "gpt-6.1-sol",
    "google": "gemini-3.8-flash",
    "openrouter": "mistralai/mistral-medium-3.1",
    "deepseek": "deepseek-chat",
    "groq": "openai/gpt-oss-120b",
    "mistral": "mistral-medium-latest",
    "xai": "grok-4",
    "together": "meta-llama/Llama-3.3-70B-Instruct-Turbo",
    "azure": "gpt-4o",
}


@pytest.mark.parametrize("provider", SLUGS)
def test_every_hosts_slug_finds_its_rates(provider: str) -> None:
    price = priced(usage(1000, 1000), SLUGS[provider], provider)
    assert price is not None
    assert price.total > 0


def test_dated_model_name_finds_its_model() -> None:
    took = usage(1000, 1000)
    assert total(took, "claude-sonnet-5-5-20260901", "anthropic") == total(
        took, "claude-sonnet-5-5", "anthropic"
    )


def test_reasoning_and_audio_are_charged_once() -> None:
    plain = total(usage(1000, 500), "gpt-6.1-sol", "openai")
    assert total(usage(1000, 500, reasoning=400), "gpt-6.1-sol", "openai") == plain
    assert total(usage(1000, 500, audio=400), "gpt-6.1-sol", "openai") == plain


def test_audio_together_with_cached_tokens_is_priced() -> None:
    # 300 of the fresh tokens are audio, at a rate of their own.
    price = priced(usage(800, 100, read=200, audio=300), "gemini-2.5-flash", "google")
    assert price == Price(
        input=(D(500) * D("0.3") + D(300)) / 10**6,
        output=D(100) * D("2.5") / 10**6,
        cache_read=D(200) * D("0.03") / 10**6,
        cache_write=D(0),
        total=D("0.000706"),
        source="genai-prices",
        tools=D(0),
    )


def test_audio_beyond_the_input_was_spoken() -> None:
    price = priced(usage(100, 100, audio=150), "gpt-audio", "openai")
    heard = priced(usage(100, 100, audio=100), "gpt-audio", "openai")
    assert price is not None
    assert heard is not None
    assert price.input == heard.input
    assert price.output is not None
    assert heard.output is not None
    assert price.output > heard.output


def test_time_of_the_call_chooses_the_rate() -> None:
    took = usage(1000, 1000)
    peak, off_peak = AT.replace(hour=8), AT.replace(hour=17)
    assert total(took, "deepseek-chat", "deepseek", at=peak) == D("0.00137")
    assert total(took, "deepseek-chat", "deepseek", at=off_peak) == D("0.000685")
    tokyo = off_peak.astimezone(timezone(timedelta(hours=9)))
    assert total(took, "deepseek-chat", "deepseek", at=tokyo) == D("0.000685")
    assert total(took, "deepseek-chat", "deepseek", at=off_peak.replace(tzinfo=None)) == D("0.000685")


def test_long_prompt_is_priced_by_its_own_length_only() -> None:
    short, long = usage(150_000, 10), usage(300_000, 10)
    apart = sum_usd([total(short, "gemini-2.5-pro", "google"), total(short, "gemini-2.5-pro", "google")])
    together = total(long, "gemini-2.5-pro", "google")
    assert apart == 2 * (D(150_000) * D("1.25") + D(10) * 10) / 10**6
    assert together == (D(300_000) * D("2.5") + D(10) * 15) / 10**6


def test_cache_of_a_long_prompt_is_told_apart_at_the_long_rate() -> None:
    price = priced(usage(100_000, 10, read=200_000), "gemini-2.5-pro", "google")
    assert price is not None
    assert (price.input, price.cache_read) == (D("0.25"), D("0.05"))


TIERS: dict[str | None, str | None] = {
    None: "0.012",
    "": "0.012",
    "default": "0.012",
    "auto": "0.012",
    "standard": "0.012",
    "priority": "0.024",
    "PRIORITY": "0.024",
    "flex": "0.006",
    "batch": "0.006",
    "scale": None,
}


@pytest.mark.parametrize("tier", TIERS)
def test_tier_has_its_own_rate_or_none(tier: str | None) -> None:
    expected = TIERS[tier]
    found = total(usage(1000, 1000), "gpt-6.1-sol", "openai", tier=tier)
    assert found == (None if expected is None else D(expected))


def test_tier_without_rates_is_not_charged_as_standard() -> None:
    assert total(usage(1000, 1000), "claude-opus-5-5", "anthropic", tier="priority") is None
    assert total(usage(1000, 1000), "claude-opus-5-5", "anthropic", tier="standard") == D("0.024")


def test_long_cache_writes_without_a_rate_are_not_charged_as_short_ones() -> None:
    assert total(usage(1000, 10, write=100), "gpt-6.1-sol", "openai") is not None
    assert total(usage(1000, 10, long=100), "gpt-6.1-sol", "openai") is None


@pytest.mark.parametrize(
    ("model", "uses", "charged"),
    [("gemini-2.5-flash", 3, 1), ("gemini-3.8-flash", 3, 3), ("gemini-2.5-flash", 0, 0)],
)
def test_searches_are_charged_per_query_or_per_prompt(model: str, uses: int, charged: int) -> None:
    price = priced(usage(10, 10, searches=uses), model, "google")
    one = priced(usage(10, 10, searches=1), model, "google")
    assert price is not None
    assert one is not None
    assert price.tools == charged * cast("Decimal", one.tools)


MODELS = [
    ("claude-opus-5-5", "anthropic"),
    ("gpt-6.1-terra", "openai"),
    ("gpt-audio", "openai"),
    ("gemini-2.5-flash", "google"),
    ("gemini-2.5-pro", "google"),
    ("deepseek-chat", "deepseek"),
    ("mistralai/mistral-medium-3.1", "openrouter"),
]
counts = st.one_of(st.just(0), st.integers(0, 3000), st.integers(0, 2_000_000))


@given(st.builds(usage, counts, counts, read=counts, write=counts, audio=counts, searches=st.integers(0, 9)))
def test_parts_of_any_price_sum_to_its_total_and_are_never_negative(took: Usage) -> None:
    for model, provider in MODELS:
        price = priced(took, model, provider)
        assert price is not None
        parts = (price.input, price.output, price.cache_read, price.cache_write, price.tools)
        amounts = [part for part in parts if part is not None]
        assert len(amounts) == 5
        assert min(amounts) >= 0
        assert sum(amounts) == price.total


def test_malformed_usage_has_no_price() -> None:
    assert priced(usage(-5, 10), "gpt-6.1-sol", "openai") is None


# The user's own table


def test_table_prices_by_its_rates() -> None:
    table = PriceTable({"acme:*": {"input": 2, "output": "10", "cache_read": 0.1, "search": D("0.01")}})
    price = table.price(
        usage(1_000_000, 100_000, read=500_000, write=10_000, long=10_000, searches=3),
        model="m",
        provider="acme",
        at=AT,
    )
    assert price == Price(
        input=D(2),
        output=D(1),
        cache_read=D("0.05"),
        cache_write=D("0.04"),
        total=D("3.12"),
        source="table",
        tools=D("0.03"),
    )


MATCHES: dict[str, tuple[list[str], str, str, int | None]] = {
    "model id": (["m"], "m", "acme", 0),
    "provider and model": (["acme:m"], "m", "acme", 0),
    "another provider": (["acme:m"], "m", "other", None),
    "wildcard": (["claude-*"], "claude-opus-5-5", "anthropic", 0),
    "all of a provider": (["ollama:*"], "qwen3:8b", "ollama", 0),
    "model id with a colon": (["qwen3:8b"], "qwen3:8b", "ollama", 0),
    "letter case": (["Llama-3"], "llama-3", "acme", 0),
    "model with a slash": (["openrouter:mistralai/*"], "mistralai/x", "openrouter", 0),
    "first that matches": (["gpt-*", "gpt-4o"], "gpt-4o", "openai", 0),
    "second": (["gpt-4o-*", "gpt-4o"], "gpt-4o", "openai", 1),
    "part of a name": (["gpt-4"], "gpt-4o", "openai", None),
    "nothing": ([], "m", "acme", None),
}


@pytest.mark.parametrize("case", MATCHES)
def test_pattern_matches(case: str) -> None:
    patterns, model, provider, expected = MATCHES[case]
    table = PriceTable({pattern: Rates(D(number), D(0)) for number, pattern in enumerate(patterns, 1)})
    price = table.price(usage(1_000_000), model=model, provider=provider, at=AT)
    assert (None if price is None else int(price.total) - 1) == expected


def test_cache_rates_default_to_the_next_wider_one() -> None:
    took = usage(0, 0, read=10**6, write=10**6, long=10**6)
    assert Rates(D(2), D(9)).price(took).total == D(6)
    assert Rates(D(2), D(9), cache_write=D(3)).price(took).total == D(8)
    assert Rates(D(2), D(9), D(1), D(3), D(4)).price(took).total == D(8)
    assert Rates(D(2), D(9), cache_read=D(0)).price(took).total == D(4)


BAD: dict[str, tuple[Mapping[str, Any], str]] = {
    "no output": ({"input": 1}, "rates need input and output"),
    "unknown rate": (
        {"input": 1, "output": 1, "cached": 1},
        "and may have others of input, output, cache_read",
    ),
    "negative": ({"input": -1, "output": 1}, "input=-1 is no rate"),
    "not finite": ({"input": 1, "output": float("inf")}, "output=inf is no rate"),
    "text": ({"input": 1, "output": "cheap"}, "output='cheap' is no rate"),
    "none": ({"input": 1, "output": None}, "output=None is no rate"),
    "flag": ({"input": True, "output": 1}, "input=True is no rate"),
    "list": ({"input": 1, "output": 1, "search": [1]}, "search=[1] is no rate"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_rates_are_refused(case: str) -> None:
    rates, message = BAD[case]
    with pytest.raises(MisuseError, match=message.replace("[", r"\[")):
        PriceTable({"m": rates})


# What the provider reports

REPORTED: dict[str, tuple[Any, str, str | None]] = {
    "cost": ({"cost": 0.000507}, "openrouter", "0.000507"),
    "free": ({"cost": 0}, "openrouter", "0"),
    "tiny": ({"cost": 1e-07}, "openrouter", "1E-7"),
    "own key": (
        {"cost": 0.001, "is_byok": True, "cost_details": {"upstream_inference_cost": 0.02}},
        "openrouter",
        "0.021",
    ),
    "own key, its cost not told": (
        {"cost": 0.001, "is_byok": True, "cost_details": None},
        "openrouter",
        None,
    ),
    "upstream cost is in the cost": (
        {"cost": 0.03, "is_byok": False, "cost_details": {"upstream_inference_cost": 0.02}},
        "openrouter",
        "0.03",
    ),
    "none": ({"prompt_tokens": 3}, "openrouter", None),
    "null": ({"cost": None}, "openrouter", None),
    "flag": ({"cost": True}, "openrouter", None),
    "negative": ({"cost": -1}, "openrouter", None),
    "not finite": ({"cost": float("nan")}, "openrouter", None),
    "text that is no number": ({"cost": "free"}, "openrouter", None),
    "object": ({"cost": {"total": 1}}, "openrouter", None),
    "no usage": (None, "openrouter", None),
    "another host, in who knows what": ({"cost": 3}, "my-gateway", None),
}


@pytest.mark.parametrize("case", REPORTED)
def test_reported_cost(case: str) -> None:
    raw, provider, expected = REPORTED[case]
    price = reported_price(raw, provider=provider)
    assert price == (None if expected is None else Price(None, None, None, None, D(expected), "provider"))


# Order, sums, warnings


def test_own_table_comes_before_the_price_data() -> None:
    table = PriceTable({"gpt-6.1-sol": {"input": 1, "output": 1}})
    both = FirstOf(table, GENAI)
    found = [
        both.price(usage(1000, 1000), model=model, provider="openai", at=AT)
        for model in ("gpt-6.1-sol", "gpt-6.1-terra", "nope")
    ]
    assert [price and (price.source, price.total) for price in found] == [
        ("table", D("0.002")),
        ("genai-prices", D("0.006")),
        None,
    ]
    assert FirstOf().price(usage(1, 1), model="m", provider="p", at=AT) is None


def test_sum_is_exact_and_unknown_only_when_nothing_is_known() -> None:
    assert sum_usd([D("0.1"), None, D("0.2")]) == D("0.3")
    assert sum_usd([None, None]) is None
    assert sum_usd([]) is None
    assert sum_usd([D(0)]) == 0


def test_price_cannot_be_changed() -> None:
    price = Price(D(1), D(1), D(0), D(0), D(2), "table")
    with pytest.raises(AttributeError):
        price.total = D(0)  # type: ignore[misc]
    assert astuple(price)[4] == 2


WARNINGS: dict[str, tuple[PriceProvider, str, str]] = {
    "local": (
        GENAI,
        "ollama",
        "ollama runs on your own machine; pass prices=PriceTable({...}) to give your own",
    ),
    "unknown": (GENAI, "acme", "its rates are not known; pass prices=PriceTable({...}) to give your own"),
    "table": (
        PriceTable({}),
        "acme",
        "its rates are not known; pass prices=PriceTable({...}) to give your own",
    ),
}


@pytest.mark.parametrize("case", WARNINGS)
def test_warning_says_why_and_what_to_do(case: str) -> None:
    prices, provider, why = WARNINGS[case]
    assert unpriced_warning(prices, model="m", provider=provider) == {
        "type": "unpriced-model",
        "setting": "m",
        "message": f"no price for 'm' at {provider!r}: {why}",
    }


def test_without_the_price_data_nothing_is_priced_and_one_hint_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "genai_prices", None)
    prices = FirstOf(PriceTable({}), GenaiPrices())
    assert prices.price(usage(1, 1), model="gpt-6.1-sol", provider="openai", at=AT) is None
    warning = unpriced_warning(prices, model="gpt-6.1-sol", provider="openai")
    assert warning["message"] == (
        "no price for 'gpt-6.1-sol' at 'openai': the price data is not installed: "
        "pip install 'deuz-nb[prices]'"
    )


def test_price_data_is_imported_on_first_use(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def note(name: str) -> Any:
        asked.append(name)
        return sys.modules[name]

    importlib.import_module("genai_prices")
    monkeypatch.setattr(importlib, "import_module", note)
    prices = GenaiPrices()
    assert asked == []
    prices.price(usage(1, 1), model="gpt-6.1-sol", provider="openai", at=AT)
    assert asked == ["genai_prices"]


def test_names_are_short() -> None:
    assert repr(FirstOf(PriceTable({"m": Rates(D(1), D(1))}), GENAI)) == (
        "FirstOf(<PriceTable of 1 patterns>, GenaiPrices())"
    )
