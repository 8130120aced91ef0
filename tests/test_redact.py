"""Secrets are masked, prose is not, and no text makes it slow.  Secrets are joined here from pieces."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deuz_nb.redact import redact

ABC = "abcdefghijklmnopqrstuvwxyz"
PEM = "PRIVATE KEY-----"

CASES: dict[str, tuple[str, str]] = {
    "prose": (
        f"no secrets, only skates, asks and basic {ABC}",
        f"no secrets, only skates, asks and basic {ABC}",
    ),
    "anthropic": ("key sk-ant-" + "api03-Q1w2E3r4T5y6 end", "key ****T5y6 end"),
    "anthropic of any length": ("sk-ant-" + "a", "****nt-a"),
    "anthropic prefix alone": ("starts with sk-ant- and stops", "starts with sk-ant- and stops"),
    "other case is no key": ("SK-ANT-" + "API03-Q1W2 Sk-ant-xyz", "SK-ANT-" + "API03-Q1W2 Sk-ant-xyz"),
    "openai": ("provided: sk-proj-" + "AAAABBBB_eeee-ffff. See", "provided: ****ffff. See"),
    "openai, cut": ("sk-" + "0123456789abcde", "****bcde"),
    "openai, short": ("sk-" + "01234567", "****"),
    "masked by the host": ("sk-proj-****abcd.", "sk-proj-****abcd."),
    "a letter outside ascii ends a key": ("sk-" + "0123456789abcdefé1", "****cdefé1"),
    "hyphenated words": ("risk-management-and-controls", "risk-management-and-controls"),
    "hyphenated words with digits": ("task-" + "0123456789abcdefgh", "ta****efgh"),
    "after an escape": ("\\nsk-" + ABC, "\\n****wxyz"),
    "google": ("?key=AIza" + "SyD_x-1234567890&x=1", "?key=****7890&x=1"),
    "google, ten": ("AIza" + "0123456789", "****6789"),
    "google, nine": ("AIza" + "012345678", "AIza" + "012345678"),
    "bearer": ("bearer abcdefgh1234 BEARER\t\n abcdefgh5678", "****1234 ****5678"),
    "bearer, other white space": ("Bearer\u00a0abcdefg1 Bearer\ufeffabcdefg2", "****efg1 ****efg2"),
    "bearer, no white space": (
        "Bearer\x1cabcdefgh Bearer\u0085abcdefgh",
        "Bearer\x1cabcdefgh Bearer\u0085abcdefgh",
    ),
    "bearer, short": ("Bearer abcd, Bearer x", "****, ****"),
    "bearer, beginning of a word": (
        "Bearer abcdıefgh Bearer wxyz\u212aabcd",
        "****abcdıefgh ****wxyz\u212aabcd",
    ),
    "bearer, base64": ("Bearer abc+def/ghi==", "****hi=="),
    "bearer, colons": ("Bearer user:pa55word1: failed", "****ord1: failed"),
    "bearer:": ("Bearer:abcdefgh1234 Bearerabcdefgh", "****1234 Bearerabcdefgh"),
    "bearer in json": ('{"Authorization":"Bearer abcdefgh1234"}', '{"Authorization":"****1234"}'),
    "bearer with a known key": ("Bearer sk-" + "0123456789abcdefXYZ9", "Bearer ****XYZ9"),
    "bearer with another key": ("bearer eyJ" + "hbGciOi.JIUzI1.NiJ9 Bearer ghp_" + ABC, "****NiJ9 ****wxyz"),
    "side by side": (
        "sk-ant-" + "aaaabbbb,AIza" + "SyA1b2C3d4E5;" + "sk-ant-" + "cccc",
        "****bbbb,****d4E5;****cccc",
    ),
    "a lone surrogate": ("x\ud83d sk-ant-" + "abcdefgh", "x\ud83d ****efgh"),
    "jwt": ("v eyJ" + "hbGciOiJIUzI1NiJ9.eyJz.c2lnbmF0dXJl end", "v ****dXJl end"),
    "jwt, cut": ("v eyJ" + "hbGciOiJIUzI1NiJ9.eyJz end", "v ****eyJz end"),
    "basic": ("Basic " + "dXNlcjpwYXNzd29yZA== end", "**** end"),
    "pem": (f"a -----BEGIN RSA {PEM}\nMII-B\n-----END RSA {PEM} b", "a **** b"),
    "pem, cut": (f"a -----BEGIN {PEM}\\nMIIB", "a ****"),
    "pem, twice": (f"-----BEGIN {PEM}x-----END {PEM} -----BEGIN {PEM}x-----END {PEM}", "**** ****"),
    "a public key": ("-----BEGIN PUBLIC KEY-----\nMIIB", "-----BEGIN PUBLIC KEY-----\nMIIB"),
    "github": (f"ghp_{ABC} gho_{ABC} github_pat_{ABC} glpat-{ABC}", "****wxyz ****wxyz ****wxyz ****wxyz"),
    "aws": ("AKIA" + "ABCDEFGHIJKLMNOP ASIA" + "ABCDEFGHIJKLMNOP", "****MNOP ****MNOP"),
    "aws, secret": ("AWS_SECRET_ACCESS_KEY=" + "abc/def+ghijklmnopq", "AWS_SECRET_ACCESS_KEY=****nopq"),
    "slack": (f"xoxb-1-{ABC} xapp-1-{ABC}", "****wxyz ****wxyz"),
    "slack hook": ("hooks.slack.com/services/" + "T01/B01/abcdefghijk", "hooks.slack.com/****hijk"),
    "stripe": (f"sk_live_{ABC} rk_test_{ABC} whsec_{ABC}", "****wxyz ****wxyz ****wxyz"),
    "model hosts": (f"xai-{ABC} gsk_{ABC} hf_{ABC} pplx-{ABC}", "****wxyz ****wxyz ****wxyz ****wxyz"),
    "inside a word": (f"half_{ABC}", f"half_{ABC}"),
    "user in an address": ("postgres://me:pa/s#s@h/db ssh://git@h", "postgres://****@h/db ssh://****@h"),
    "no user in an address": ("https://h:443/@a https://h/@b c@d", "https://h:443/@a https://h/@b c@d"),
    "query": (
        f"/?api_key={ABC}&key=abc&max_tokens=5&sig=1&access_token=x",
        "/?api_key=****wxyz&key=****&max_tokens=5&sig=****&access_token=****",
    ),
    "signed address": (
        f"?X-Amz-Signature={ABC}&Credential={ABC}",
        "?X-Amz-Signature=****wxyz&Credential=****wxyz",
    ),
    "header lines": (
        f"x-api-key: {ABC}\r\napi-key: short\r\nX-Goog-Api-Key:{ABC}\r\nHost: h",
        "x-api-key: ****wxyz\r\napi-key: ****\r\nX-Goog-Api-Key:****wxyz\r\nHost: h",
    ),
    "authorization": (
        f"Authorization: {ABC}\r\nHost: h\nauthorization: Token {ABC} end",
        "Authorization: ****wxyz\r\nHost: h\nauthorization: ****wxyz end",
    ),
    "cookies": ("Cookie: a=b; sk-ant-" + "a; c=d\nHost: h", "Cookie: ****\nHost: h"),
    "json": ('{"api_key":"a\\"b&c","n":1,"token":"x"}', '{"api_key":"****","n":1,"token":"****"}'),
    "json in json": ('{\\"password\\": \\"a&b\\",\\"n\\":1}', '{\\"password\\": \\"****\\",\\"n\\":1}'),
    "python": (f"{{'api_key': '{ABC}', 'n': 1}}", "{'api_key': '****wxyz', 'n': 1}"),
    "a password shows nothing": (f"password={ABC} pwd: {ABC}", "password=**** pwd: ****"),
    "a known key under its name": (
        '{"x-api-key":"sk-ant-' + 'abcdefgh","n":1}',
        '{"x-api-key":"****efgh","n":1}',
    ),
    "a known key and a stop": ("API key: sk-ant-" + "abcdefgh. See", "API key: ****efgh. See"),
    "a mask before something else": ("api_key=sk-ant-" + "a/secret_part_of_it", "api_key=****f_it"),
    "no value": ("api_key: null, password: None, api_key=", "api_key: null, password: None, api_key="),
    "names in prose": (
        "invalid x-api-key; token limit; signature: required",
        "invalid x-api-key; token limit; signature: required",
    ),
}


@pytest.mark.parametrize(("text", "masked"), CASES.values(), ids=CASES.keys())
def test_secrets_are_masked(text: str, masked: str) -> None:
    assert redact(text) == masked
    assert redact(masked) == masked


PIECES = [
    "sk-",
    "sk-ant-",
    "AIza",
    "Bearer ",
    "Basic ",
    "eyJ",
    ".",
    "://",
    "@",
    ":",
    "=",
    " ",
    '"',
    "\\",
    "api_key",
    "****",
]
PIECES += [
    "abcdefgh",
    "0123456789abcdef",
    "password",
    "cookie: ",
    "-----BEGIN PRIVATE KEY-----",
    "\n",
    "é",
    "\ud83d",
    "&key=",
]


SECRETS = [
    "sk-ant-" + ABC,
    "sk-proj-" + ABC,
    "AIza" + ABC,
    "ghp_" + ABC,
    "xoxb-" + ABC,
    "sk_live_" + ABC,
    "gsk_" + ABC,
]
surroundings = st.lists(st.sampled_from(PIECES)).map("".join) | st.text()


@given(surroundings, st.sampled_from(SECRETS), surroundings)
def test_a_known_key_is_masked_in_any_surroundings(before: str, secret: str, after: str) -> None:
    assert secret[:-4] not in redact(f"{before} {secret} {after}")


@given(st.text(alphabet=st.sampled_from("abc dé.\n")))
def test_text_without_secrets_is_returned_as_it_is(text: str) -> None:
    assert redact(text) == text


HOSTILE = [
    *[
        "sk-",
        "sk-ant",
        "sk-a ",
        "AIza",
        "eyJ",
        "eyJ.",
        "eyJaaaaa.",
        "bearer ",
        "bearer\t",
        "Bearer a:",
        "basic aaaaaa ",
    ],
    *[
        "-----BEGIN PRIVATE KEY-----",
        "-----END ",
        "://",
        "://a:b",
        "://a@",
        "api_key",
        "api_key: ",
        'api_key="',
        "password='\\",
    ],
    *[
        "secret_access_",
        "authorization: basic ",
        "cookie:",
        "ghp_",
        "xoxb-",
        "sk_live_",
        "?key=a&",
        '"token":',
        " ",
        "\\n",
        "=",
    ],
]


@pytest.mark.parametrize("piece", HOSTILE)
def test_a_megabyte_of_anything_is_masked_quickly(piece: str) -> None:
    text = "bearer://a:api_key" + piece * (1_000_000 // len(piece))
    start = time.process_time()
    redact(text)
    assert time.process_time() - start < 5
