r"""Names that say of a value that it is secret.

Strong names (password, secret, API key) make nearly any literal a secret. Weak names (token,
key, auth) are everyday words of programs, and what is assigned to them has to look random;
they count only as the last part of a longer name. Names are found in the middle of
identifiers (`DB_PASSWORD`, `dbPassword`), never followed by another word (`password_file`,
`tokenType`, `max_tokens`).
"""

from __future__ import annotations

from collections.abc import Iterable

from streamguard.redact.rules.boundary import spellings

__all__ = [
    "ANCHORS",
    "NAMES",
    "PARAMETER",
    "SECRET",
    "SHORT_ANCHORS",
    "SHORT_IS",
    "VARIABLE",
    "WEAK_ANCHORS",
    "WEAK_IS",
]

_STRONG = (
    ("password",),
    ("passwd",),
    ("passphrase",),
    ("passcode",),
    ("pwd",),
    ("secret",),
    ("api", "key"),
    ("secret", "key"),
    ("access", "key"),
    ("access", "token"),
    ("auth", "key"),
    ("auth", "token"),
    ("api", "token"),
    ("bot", "token"),
    ("bearer", "token"),
    ("session", "token"),
    ("encryption", "key"),
    ("private", "key"),
    ("refresh", "token"),
    ("signing", "key"),
    ("nonce", "key"),
    ("master", "key"),
    ("account", "key"),
)
# `--secret id=x` of a builder of images names a secret, as `secret_id` does not.
_IDS = "|".join(
    [
        r"[sS]ecret[_-]?[iI]d|secret[_-]?ID|SECRET[_-]?ID",
        r"(?<!--)(?:[sS]ecret[ ](?:id|I[Dd])|SECRET[ ]ID)",
    ]
)
_SUFFIXES = (
    "key",
    "token",
    "value",
    "base",
    "old",
    "new",
    "prod",
    "dev",
    "test",
    "hash",
    "secure",
    "confirmation",
    "confirm",
)
# Short for a password, but only of something that has one: `first_pass` is a pass.
_OWNERS = ("db", "user", "root", "admin", "smtp", "mail", "ftp", "ssh", "mysql", "pg", "redis", "proxy", "my")
_SHORT = "|".join(
    [
        *(f"{owner}[_.]pass|{owner.upper()}_PASS|{owner}Pass" for owner in _OWNERS),
        *(f"(?<![A-Za-z])(?:{owner}pass|{owner.upper()}PASS)" for owner in _OWNERS),
        *(f"{owner}_pw|{owner.upper()}_PW" for owner in ("db", "user", "root", "admin", "clou")),
        "(?:AUTH|NONCE|LOGGED_IN)_SALT|LOGGED_IN_KEY",
    ]
)
# A name of a type, in the notation of CloudFormation: what is assigned to it is none of its values.
# One after a number and a colon is part of an address: `arn:aws:secretsmanager:...:1234:secret:name`.
_NO_TYPE = "".join(rf"(?<!::{'[A-Za-z]' * width})" for width in range(7))

NAMES = "|".join([*(spellings(*words) for words in _STRONG), _IDS])
"""Strong names."""

_SUFFIX = "|".join([*_SUFFIXES, *map(str.title, _SUFFIXES), *map(str.upper, _SUFFIXES), "[0-9]{1,2}"])

SECRET = rf"(?:(?:(?=[a-z])(?<![0-9]:)|(?=[A-Z]){_NO_TYPE})(?:{NAMES})(?:[_-]?(?:{_SUFFIX})){{0,2}}|{_SHORT})"
"""Strong names with what may follow them inside a name."""

ANCHORS = (
    *dict.fromkeys(form for *_, word in _STRONG for form in (word, word.title(), word.upper())),
    *("id", "Id", "ID"),
    *("_pass", ".pass", "_PASS", "Pass", "_pw", "_PW", "_SALT", "LOGGED_IN_KEY"),
    *(form for owner in _OWNERS for form in (f"{owner}pass", f"{owner}PASS".upper())),
)

_PASS = "|".join(map(str.upper, ("", *_OWNERS)))

VARIABLE = (
    rf"(?:{'|'.join('_?'.join(words).upper() for words in _STRONG)}|SECRET_?ID|(?<![A-Z])(?:{_PASS})PASS)"
    rf"(?:_(?:{'|'.join(map(str.upper, _SUFFIXES))}|[0-9]{{1,2}})){{0,2}}"
)
"""Strong names of environment variables."""

PARAMETER = (
    rf"(?<=[?&])(?:client[_-]?|user[_-]?)?(?:{'|'.join('[_-]?'.join(words) for words in _STRONG)})"
    r"|(?<=[?&])(?:secret_?id|pass|apiKey|accessToken)"
)
"""Strong names of parameters in queries and forms."""

_WEAK = ("key", "token", "auth", "pass", "creds", "credential", "credentials")
_BENIGN = ("public", "primary", "foreign", "cache", "sort", "replica", "plan")
# Tokens that tell where a list goes on, or that a request is the same one; the ends of long words.
_PLACES = ("next", "page", "ination", "nuation", "ellation", "sync", "potency", "marker", "cursor")
_NOT_BENIGN = (
    "".join(
        rf"(?<![{word[0]}{word[0].upper()}]{word[1:]}{mark})(?<!{word.upper()}{mark})"
        for word in (*_BENIGN, *_PLACES)
        for mark in ("", "[_ -]")
        if len(word) + bool(mark) <= 8
    )
    + "(?<!tRequest)(?<!Security)(?<!Signing)"
)


# The name and the sign after it are one literal for the prefilter: `key` alone is everywhere.
_WEAK_SIGN = "|".join(
    [
        r"""(?:(?:[ ]|\*\*)?[:=](?:\*\*[ ])?|\(|["'](?:[ ]?:|,|\])|["'][ ]=|\\"[ ]?:)[:=>\] \t]*""",
        r"[ ][?.+|]=[:=>\] \t]*",
        r"[ ][ ][ \t]*[:=]+[ \t]*",
    ]
)


def _weak(names: Iterable[str]) -> str:
    return "|".join(f"{name}(?:{_WEAK_SIGN})" for name in names)


WEAK_IS = (
    rf"{_NOT_BENIGN}(?:(?<![A-Za-z])(?:{_weak(_WEAK)})|{_NO_TYPE}(?:{_weak(map(str.title, _WEAK))})"
    rf"|(?<![A-Z])(?:{_weak(map(str.upper, _WEAK))}))"
)
"""Weak names with the sign after them."""

WEAK_ANCHORS = tuple(form for word in _WEAK for form in (word, word.title(), word.upper()))

_SHORTEST = "|".join(
    rf"""{name}{sign}[:=> \t]*""" for name in ("pw", "PW") for sign in (":", "=", '":', "':", " =", " :")
)
SHORT_ANCHORS = ("pass", "Pass", "PASS", "pw", "PW")

SHORT_IS = rf"(?<![A-Za-z])(?:{_weak(('pass', 'Pass', 'PASS'))}|{_SHORTEST})"
"""Short names for a password with the sign after them."""
