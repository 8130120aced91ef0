"""Secrets out of strings that people will read: `****` and, of a long secret, its last four characters.

Keys by their known forms, credentials by the name or scheme before them, passwords in addresses.  What looks
like a secret is masked, so a harmless word may be; it is no proof that nothing secret is left.
"""

from __future__ import annotations

import re
from base64 import b64decode
from collections.abc import Callable
from typing import Final

__all__ = ["redact"]

_MASK: Final = "****"
_SHOWN: Final = 4
_LONG: Final = 16
"""A shorter secret is masked whole: four of its characters would be a large part of it."""

# JavaScript's white space, which is what ends a token on the other side of the wire too.
_WS: Final = "[\t-\r \xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff]"
# Not inside a word; a letter after a backslash is an escape in JSON text (`\nsk-...`), not a word.
_START: Final = r"(?:(?<![A-Za-z0-9])|(?<=\\[bfnrt]))"
_NO_VALUE: Final = frozenset({"null", "none", "undefined", "true", "false"})


def redact(text: str) -> str:
    """`text` with the secrets in it masked.

    The time is linear in the length of the text, whatever it holds.  A mask stays as it is.
    """
    lowered = text.lower()
    for hints, pattern, mask in _RULES:
        if any(hint in lowered for hint in hints):
            text = pattern.sub(mask, text)
    return text


def _tail(found: re.Match[str]) -> str:
    return _MASK + found[0][-_SHOWN:]


def _masked(secret: str) -> str:
    return _MASK + secret[-_SHOWN:] if len(secret) >= _LONG else _MASK


def _form(found: re.Match[str]) -> str:
    return _masked(found[0])


def _sk(found: re.Match[str]) -> str:
    """`sk-` keys; a hyphenated word such as `risk-management-and-controls` is none."""
    key, text, start = found[0], found.string, found.start()
    has_digit = any(character.isdigit() for character in key)
    is_in_word = text[start - 1 : start].isalnum() and text[max(start - 2, 0) : max(start - 1, 0)] != "\\"
    if len(key) < len("sk-") + _LONG:
        return _masked(key) if has_digit and not is_in_word else key
    return key if is_in_word and not has_digit else _tail(found)


def _bearer(found: re.Match[str]) -> str:
    token = found[1]
    if len(token) > _SHOWN:
        return _MASK + token[-_SHOWN:]
    # Before a letter outside ASCII it is the beginning of a longer word, whose rest stays readable anyway.
    continues = found.string[found.end() : found.end() + 1].isalnum()
    return _MASK + token if len(token) == _SHOWN and continues else _MASK


def _basic(found: re.Match[str]) -> str:
    """`Basic` credentials are base64 of `user:password`; other words after "basic" are prose."""
    token = found[1].rstrip("=")
    if len(token) % 4 == 1:
        return found[0]
    return _MASK if b":" in b64decode(token + "=" * (-len(token) % 4), altchars=b"-_") else found[0]


def _named(found: re.Match[str]) -> str:
    """A name, what stands between, an opening quote, a value: only the value is masked."""
    name, between, quote, value = found.groups("")
    if _ALREADY.fullmatch(value) or value.lower() in _NO_VALUE:
        return found[0]
    is_password = name.lower().startswith(("pass", "pwd", "cookie", "set-cookie"))
    return f"{name}{between}{quote}{_MASK if is_password else _masked(value)}"


def _rule(
    hints: str, pattern: str, mask: Callable[[re.Match[str]], str] | str, flags: re.RegexFlag = re.ASCII
) -> tuple[tuple[str, ...], re.Pattern[str], Callable[[re.Match[str]], str] | str]:
    """A pattern, what takes its place, and the texts (lower case) without one of which it cannot match."""
    return tuple(hints.split("|")), re.compile(pattern, flags), mask


_ANY_CASE: Final = re.ASCII | re.IGNORECASE
_TOKEN: Final = r"[\w.~+/=-]++(?::[\w.~+/=-]++)*+"
_BARE: Final = r"""[^\s"'`&,;<>(){}\[\]\\]+"""
# After a name: `: value`, `= "value"`, also as JSON text within JSON text writes it (`\": \"value\"`).
_GIVEN: Final = rf"""(\\?["']?\s*+[:=]\s*+)(\\?["'`])?((?(3)(?:(?!\3)(?:\\.|[^\r\n]))+|{_BARE}))"""
_KEY_NAME: Final = (
    r"(?:api|access|account|auth|master|private|subscription|secret|secret[_-]?access)[_ -]?key"
    r"|(?:access|api|auth|bearer|bot|client|csrf|id|private|refresh|secret|security|session)[_-]?token"
    r"|(?:client|api|app|shared|signing|webhook)[_-]?secret"
    r"|passwords?|passwd|passphrase|pwd"
)
_SCHEME: Final = r"(?:basic|bearer|token|api-?key|key|digest|negotiate|ntlm|oauth|bot|aws4-hmac-sha256)"

_ALREADY: Final = re.compile(rf"(?:{_SCHEME}[ \t]+)?\*{{4}}.{{0,{_SHOWN}}}[.:!?]*", _ANY_CASE)

# The order is part of the rule.  Keys of the first three forms are masked before bearer tokens, so the word
# before such a key stays; forms come before names, so a named key keeps what its own form shows.  Every
# pattern begins where a fixed text stands and repeats one class of characters, possessively where it could
# look back: no text makes it slow.
_RULES: Final = (
    _rule(
        "private key",
        r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
        r"(?:[^-]++|-(?!----END ))*+(?:-----END [A-Z0-9 ]{0,60}-----)?",
        _MASK,
    ),
    _rule("sk-ant-", r"sk-ant-[\w-]+", _tail),
    _rule("sk-", r"sk-[\w-]{8,}", _sk),
    _rule("aiza", r"AIza[\w-]{10,}", _tail),
    _rule("bearer", rf"bearer(?:{_WS}++:?+|:){_WS}*+({_TOKEN})", _bearer, _ANY_CASE),
    _rule("eyj", r"(?:(?<![\w-])|(?<=\\[bfnrt]))eyJ[\w-]{5,}+\.[\w-]++(?:\.[\w-]*+){0,3}", _form),
    _rule(
        "ghp_|gho_|ghu_|ghs_|ghr_|github_pat_|glpat-",
        _START + r"(?:(?:gh[pousr]|github_pat)_\w{16,}|glpat-[\w-]{16,})",
        _form,
    ),
    _rule("gsk_|hf_|r8_|fw_|npm_", _START + r"(?:gsk|hf|r8|fw|npm)_\w{16,}", _form),
    _rule("xai-|pplx-|nvapi-|gocspx-", _START + r"(?:xai|pplx|nvapi|GOCSPX)-[\w-]{16,}", _form),
    _rule("ya29.", _START + r"ya29\.[\w-]{16,}", _form),
    _rule("xox|xapp-", _START + r"(?:xox[a-z]|xapp)-[\w-]{8,}", _form),
    _rule("hooks.slack.com/", r"(?<=hooks\.slack\.com/)\w+/[\w/]+", _form),
    _rule("k_live_|k_test_|whsec_", r"(?:[a-z]k_(?:live|test)|whsec)_\w{8,}", _form),
    _rule("akia|asia|aida|aroa|abia|acca", _START + r"A(?:KIA|SIA|IDA|ROA|BIA|CCA)[A-Z0-9]{16,}", _form),
    _rule("basic", r"basic[ \t:]++([\w+/-]{6,}={0,2})", _basic, _ANY_CASE),
    _rule(
        "://",
        r"""(?<=://)(?:[^\s/?#"'<>\\]*@|[^\s/?#"'<>\\:@]+:(?!\d{1,5}[/?#])[^\s"'<>\\@]{1,128}@)""",
        _MASK + "@",
    ),
    _rule(
        "authorization",
        rf"""(authorization)(\\?["']?\s*+[:=]\s*+)(\\?["'])?((?:{_SCHEME}[ \t]++)?{_BARE})""",
        _named,
        _ANY_CASE,
    ),
    _rule("cookie", r"""((?:set-)?cookie)(\\?["']?:[ \t]*+)(\\?["'])?([^\r\n"'\\]+)""", _named, _ANY_CASE),
    _rule("key|token|secret|pass|pwd", rf"({_KEY_NAME}){_GIVEN}", _named, _ANY_CASE),
    _rule("token|secret", rf"""(?<=["'])(token|secret)(?=\\?["']){_GIVEN}""", _named, _ANY_CASE),
    _rule("signature=|credential=", r"(signature|credential)(=)()([\w%+/=.-]{16,})", _named, _ANY_CASE),
    _rule(
        "key=|token=|sig=|auth=|secret=",
        rf"(?<=[?&])(key|token|sig|auth|secret)(=)()({_BARE})",
        _named,
        _ANY_CASE,
    ),
)
