"""Checks: what a pattern cannot say about a value.

A check is asked once, on a value that has ended, and answers whether it can be a secret.
None of them proves anything. They know what is certainly none: a placeholder, a masked or
already redacted value, a template, code, a documented example; and what looks drawn at
random. A checksum is advisory: right, it settles the matter; wrong, it settles nothing,
since models invent, mistype and cut off tokens.

The functions on the first half look at one property; those on the second put them together
for a kind of place: a key after its name, a string literal, a variable of the environment.
"""

from __future__ import annotations

import base64
import math
import re
import zlib
from collections import Counter
from itertools import pairwise

from streamguard.redact.checksums import confirmed
from streamguard.redact.stand_ins import CONSTANTS, PLACEHOLDERS, TECHNICAL, TOGETHER

__all__ = [
    "base64_key",
    "base64_text",
    "basic_credentials",
    "checksummed",
    "chosen",
    "cookie",
    "entropy",
    "genuine",
    "is_code",
    "is_masked",
    "is_placeholder",
    "is_reference",
    "is_template",
    "literal",
    "mixed",
    "opaque",
    "random_looking",
    "said",
    "secret_shaped",
    "setting",
    "token",
    "uri_password",
    "variable",
    "vendor_key",
    "web_password",
]

# -- one property ----------------------------------------------------------------

_SECRET_WORDS = frozenset(["secret", "password", "passphrase", "token", "key", "credential", "credentials"])
_SPLIT = re.compile(r"[^A-Za-z0-9]+")
_WORDS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|[0-9]+|[^\W\d_]+")
_UUID = re.compile(r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}", re.IGNORECASE)
_EXAMPLE = re.compile(r"example|placeholder|change[_-]?me|redacted|filtered|dummy|sample", re.IGNORECASE)
_DOCUMENTED = re.compile(r"(?=.{16}).*(?:(?<=[A-Za-z0-9+/])EXAMPLE|EXAMPLE(?=[A-Za-z0-9+/=]))", re.DOTALL)
_REDACTED = re.compile(r"\[REDACTED[\]:]|REDACTED:[a-z]")
_SEQUENCE = re.compile(
    r"0?123456789?0?(?:abcdef)?|(?<![A-Za-z])abc(?:def)?(?:ghi)?(?:jkl)?(?:12345?6?)?", re.IGNORECASE
)
_STRUCK = re.compile(r"\*{3,}|[•●█]{3,}|\.{3,}|…+")
_CROSSED = re.compile(r"[xX]{4,}|#{4,}|_{4,}|-{4,}")
_BALANCED = r"(?:[^{}()\[\]]|\([^()]*\)|\[[^\[\]]*\])*"
_TEMPLATE = re.compile(
    rf"""\$\{{{_BALANCED}\}}|\$\(.*\)?|\{{\{{{_BALANCED}\}}\}}|<%[^<>]*%>|<[^<>]*>|\#\{{{_BALANCED}\}}|%\([A-Za-z_]+\)s|%[sdr](?!\w)
    |\{{[A-Za-z_]?[\w.!:\[\]()'"]*\}}|(?<![\w$])\$(?:[A-Z_][A-Z0-9_]*|[A-Za-z_]+)(?!\w)
    |\A\$[A-Za-z_]\w*\Z|(?<!\w)%[A-Za-z_]\w*%|(?<!\w)@[A-Z_]+@""",
    re.VERBOSE | re.DOTALL,
)
_REFERENCE = re.compile(
    r"(?:~|\.{1,2})?/[\w.-]+/[\w./ -]*|(?:~|\.{1,2})/[\w.-]*|/[a-z_.-]{2,}[0-9]?|[A-Za-z]:\\.*"  # files
    r"|[A-Za-z][A-Za-z0-9+.:-]*://.*"  # addresses, and the keys of caches that are made of them
    r"|os\.environ/\w+|projects/[^/\s]+/secrets/.*"
    r"|(?:arn|vault|ssm|secretsmanager|awssm|keyvault|kms|file|env|ref|sops|op):.*"
    r"|[\w./-]+\.(?:pem|key|crt|cer|pub|p12|pfx|jks|json|ya?ml|toml|ini|txt|env|conf|cfg|py|js|ts)",
    re.DOTALL,
)
_NUMBER = re.compile(
    r"[+-]?(?:0[xX][0-9A-Fa-f]{1,8}|\d[\d_,.]*[A-Za-z%]{0,3}|\d{1,5}[\])}][=,;]*|\d{1,3}[-–]\d{1,3})"
)
_CALL = re.compile(r"[A-Za-z_$][\w$]*(?:(?:\.|::|->)[A-Za-z_$][\w$]*)*!?[(\[].*", re.DOTALL)
_PATH = re.compile(r"[A-Za-z_$@&*][\w$]*(?:(?:\?\.|\.|::|->)[A-Za-z_$][\w$]*)+[;,]?")
_VERSION = re.compile(
    r"[v^~]?\d+(?:\.\d+)+(?:[.+-]?(?:dev|post|rc|alpha|beta|pre|a|b)[.-]?\d*)*", re.IGNORECASE
)
# A class that is named after an algorithm: `X25519PrivateKey`.
_CLASS = re.compile(r"[A-Z][A-Za-z]{0,11}[0-9]{1,5}(?:[A-Z][a-z]{2,})+")
# One that a type annotation names in quotes: `"_RSAPrivateKey"`.
_KEY_CLASS = re.compile(r"_?[A-Z][A-Za-z]*(?:Access|Api|Private|Public|Secret)(?:Key|Token)")
# How long a value is, how it came about: `32-char`, `auto-generated`, `utf8mb4-encoded`.
_QUALITY = re.compile(
    r"\d{1,4}-(?:bit|byte|char|character|digit|letter|symbol|word)s?"
    r"|[A-Za-z][a-z]+-(?:defined|free|generated|less|managed|only|protected|provided|safe|sensitive|specific|time)"
    r"|[A-Za-z][a-z]+(?:\d{1,3}[a-z]{0,2}\d?)?-(?:based|encoded|encrypted|hashed|signed)"
)
# A method that is named: `scram-sha-256`, `aes-256-gcm`.
_ALGORITHM = re.compile(
    r"(?:(?:caching|dhe|dsa|ecdhe|ecdsa|hmac|pbkdf2|rsa|scram|tls)[-_])*"
    r"(?:aes|blake|camellia|chacha|crc|des|hmac|iso|md|ripemd|rsa|sha|sm|utf)[-_]?[0-9]{1,5}"
    r"(?:[-_](?:[a-z]{2,8}|[a-z]{0,4}[0-9]{1,4}))*",
    re.IGNORECASE,
)
# The end of a tuned model's name: `ft:gpt-4o-mini:openai:custom-name:7p4lURel`.
_TUNED = re.compile(r"[a-z0-9]*(?:-[a-z0-9]+)*:[A-Za-z0-9]{8}")
# The name of an object in a cluster: `my-release-postgresql`, `ingress-tls`.
_OBJECT = re.compile(
    r"my-(?:[a-z]+-)*(?:app|cert|config|database|db|postgres(?:ql)?|redis|release|secret|service|tls)(?:-[a-z]+)*(?:-[0-9]{1,2})?"
    r"|(?:[a-z]+-)+(?:certs?|certificates?|config|credentials|creds|secrets?|tls)(?:-[0-9]{1,2})?"
)
# What is told of a secret in the place of it: `--secret id=x,src=file`.
_TOLD = re.compile(r"(?:env|id|name|source|src|target|type)=.*", re.DOTALL)
# In the scripts of Vim a variable says where it is known: `g:name`.
_SCOPED = re.compile(r"[abglstvw]:[A-Za-z_][\w#.]*")
# The name of the variable that holds the value.
_NAMESAKE = re.compile(
    r"(?:[A-Z]+[0-9]?_)+(?:AUTH|CREDENTIALS?|KEY|PASS|PASSPHRASE|PASSWD|PASSWORD|PWD|SECRET|TOKEN)(?:_[A-Z]{2,8}|_?[0-9])?"
)
_JOINED = re.compile(r"[+.] ?[A-Za-z_$][\w$.]*(?:\[\w*\]|\(\))? ?[+.]")  # 'password=' + password + ';'
_OPERATOR = re.compile(r"[=!]==?|\?\?|[+-]=|=>|\|\||&&")
_IDENTIFIER = re.compile(r"[&*$@!]?[A-Za-z_][A-Za-z0-9_]*")
_SENTENCE = re.compile(r"(?:[A-Z][a-z]{2,}[0-9]?(?:[A-Z][a-z]){0,2}){5,}[.!]?")
_TO_REPLACE = re.compile(r"(?:your|insert|enter|replace)[ _-]", re.IGNORECASE)


def entropy(value: str) -> float:
    """Shannon entropy, in bits a character."""
    size = len(value)
    return -sum(count / size * math.log2(count / size) for count in Counter(value).values())


def random_looking(value: str) -> bool:
    """Whether it looks drawn at random: letters among digits, and many different characters."""
    if len(value) < 16 or not any(map(str.isdigit, value)) or entropy(value) < 2.75:
        return False
    return any(map(_mixed, _SPLIT.split(value))) or (len(value) >= 32 and entropy(value) >= 4.2)


def _mixed(part: str) -> bool:
    if len(part) < 6 or part.isdigit():
        return False
    turns = sum(one.isdigit() != other.isdigit() for one, other in pairwise(part))
    if turns == 2 and sum(map(str.isdigit, part)) < 3:  # a number among long words is no chance
        words = [word for word in _WORDS.findall(part) if word.isalpha()]
        return sum(map(len, words)) < 5 * len(words)
    return turns >= 2 or (turns == 1 and len(part) >= 12)


def _unsaid(value: str) -> int:
    """How many characters of it stand in parts that are neither words nor plain numbers."""
    return sum(len(part) for part in _SPLIT.split(value) if not part.isdigit() and not _is_name(part))


def genuine(value: str) -> bool:
    """Whether it is neither masked nor an example, as the keys in documentations are.

    A word such as `sample` makes an example of what is words otherwise. Beside eight characters
    or more that are none, it is part of a password. `EXAMPLE` inside a key is the mark of
    documented ones.
    """
    if is_masked(value) or _DOCUMENTED.match(value) or _REDACTED.search(value):
        return False
    return not _EXAMPLE.search(value) or _unsaid(_SEQUENCE.sub(" ", _EXAMPLE.sub(" ", value))) >= 8


def is_masked(value: str) -> bool:
    """Whether characters of it have been struck out, or it is one character repeated.

    Struck out is most of it, or what comes before its last few characters. Three dots in a
    longer value are part of it, and so is a rule of hyphens.
    """
    if len(set(value)) < 3:
        return True
    found = list(_STRUCK.finditer(value))
    if found and sum(map(str.isalnum, value[found[-1].end() :])) <= 6:
        return True
    for run in (_STRUCK, _CROSSED):
        shown, runs = run.subn("", value)
        if runs and (len(shown) <= len(value) - len(shown) or _unsaid(shown) < 6):
            return True
    return False


def is_placeholder(value: str) -> bool:
    """Whether it is made of words that stand for a value: `your-api-key`, `changeme`.

    A number counts as part of them only as a word of its own: `test-key-123`, but not
    `password123`, which people use. A word of another script than Latin is a label.
    """
    if _TO_REPLACE.match(value) or (value.isalpha() and not value.isascii()):
        return True
    parts = [part for part in _SPLIT.split(value) if part]
    if len(parts) >= 4 and all(map(str.islower, parts)) and all(map(str.isalpha, parts)):
        return not _SECRET_WORDS.isdisjoint(parts)  # `secret-key-for-object-storage` says what it is
    words = [word.lower() for part in parts if not part.isdigit() for word in _WORDS.findall(part)]
    return (bool(words) or not parts) and all(
        word in PLACEHOLDERS or TOGETHER.fullmatch(word) for word in words
    )


def is_template(value: str) -> bool:
    """Whether something is still to be filled in, and what stands around it is no secret."""
    around, holes = _TEMPLATE.subn("", value)
    for _ in range(3):  # holes within holes: `${A:-${B}}`
        around = _TEMPLATE.sub("", around)
    return (
        holes > 0
        and not re.search(r"[{}]", around)
        and _unsaid(around) < 6
        and not random_looking(around)
        and not random_looking(value.replace("$", ""))
    )


def is_reference(value: str) -> bool:
    """Whether it says where the secret is: a path, an address, the name in a vault.

    Base64 has slashes too, and half of what stands between them is no word.
    """
    return bool(_REFERENCE.fullmatch(value)) and ("://" in value or 2 * _unsaid(value) < len(value))


def is_code(value: str) -> bool:
    """Whether it is an expression: a name, a path of names, a call, a number, a version, a constant."""
    if value.lower() in CONSTANTS or _NUMBER.fullmatch(value) or _CALL.fullmatch(value):
        return True
    if _is_path(value) or _VERSION.fullmatch(value):
        return True
    if _SCOPED.fullmatch(value):
        return all(map(_is_name, filter(None, re.split(r"[#.]", value[2:]))))
    return bool(_IDENTIFIER.fullmatch(value)) and (value[0] in "&*!" or _is_name(value.strip("$@_")))


def _is_comparison(value: str) -> bool:
    """Whether it is names on both sides of operators, as in code without spaces."""
    if not _OPERATOR.search(value):
        return False
    return all(
        is_code(part) for part in re.split(r"[:?]", _OPERATOR.sub(":", value.replace("?.", "."))) if part
    )


def _is_path(value: str) -> bool:
    names = (name for name in re.split(r"\W+", value) if not _CLASS.fullmatch(name))
    return bool(_PATH.fullmatch(value)) and not any(map(random_looking, names))


def _is_name(identifier: str) -> bool:
    """Whether an identifier is made of words, numbered perhaps; `hunter2` and `s3cr3t` are not."""
    parts = [part for part in identifier.split("_") if part]
    stems = [part.rstrip("0123456789") for part in parts]
    if not all(stem.isalpha() for stem in stems if stem):
        return False
    words = [word for stem in stems for word in _WORDS.findall(stem)]
    if len(parts) == 1 and stems != parts:
        number = len(parts[0]) - len(stems[0])
        return number < 3 and (len(words) > 1 or len(stems[0]) < 3 or stems[0].lower() in PLACEHOLDERS)
    return bool(words) and (sum(map(len, words)) >= 3 * len(words) or len(identifier) < 8)


def basic_credentials(value: str) -> bool:
    """Whether it is base64 of a user's name, a colon and a password."""
    try:
        text = base64.b64decode(value + "=" * (-len(value) % 4), validate=True).decode()
    except ValueError:  # not base64, or not text
        return False
    return ":" in text[:-1] and text.isprintable()


def base64_text(value: str) -> bool:
    """Whether it is base64 of a text, or one of several lines of `name: value` is."""
    return any(map(_is_text, (line.rpartition(": ")[2].strip(" \t\"'") for line in value.splitlines())))


def _is_text(encoded: str) -> bool:
    try:
        text = base64.b64decode(encoded, validate=True).decode()
    except ValueError:  # not base64, or not text
        return False
    return bool(text) and all(one.isprintable() or one.isspace() for one in text)


_BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_CHECKSUMMED = re.compile(r"(?:gh[pousr]|npm)_([A-Za-z0-9]{30})([A-Za-z0-9]{6})")


def checksummed(value: str) -> bool:
    """Whether it is a token of GitHub or npm whose checksum is right.

    The last six characters are the CRC-32 of the thirty before, in base 62. Advisory.
    """
    found = _CHECKSUMMED.fullmatch(value)
    if not found:
        return False
    left = zlib.crc32(found[1].encode())
    digits = ""
    for _ in range(6):
        left, digit = divmod(left, 62)
        digits = _BASE62[digit] + digits
    return digits == found[2]


# -- put together ----------------------------------------------------------------


def _stands_for_a_value(value: str) -> bool:
    return not genuine(value) or is_placeholder(value) or is_template(value) or value.startswith("-----BEGIN")


def opaque(value: str) -> bool:
    """A value that may be anything: it has to look like a secret by itself."""
    return (
        checksummed(value)
        or confirmed(value)
        or (
            random_looking(value)
            and value[0] not in ")]},;"
            and not _stands_for_a_value(value)
            and not is_reference(value)
            and not is_code(value)
        )
    )


def base64_key(value: str) -> bool:
    """The base64 of random bytes: upper and lower case and digits, evenly mixed."""
    return (
        genuine(value)
        and entropy(value) >= 3.5
        and all(any(map(kind, value)) for kind in (str.isupper, str.islower, str.isdigit))
    )


def secret_shaped(value: str) -> bool:
    """A value whose name says little (token, key, auth).

    A UUID is random too, and is the name of something more often than a key to it.
    """
    return opaque(value) and not _UUID.fullmatch(value) and not _CLASS.fullmatch(value)


def token(value: str) -> bool:
    """A value after the name of its scheme, which in prose may be any word."""
    return any(map(str.isdigit, value)) and setting(value)


def cookie(value: str) -> bool:
    """The value of a cookie; a UUID numbers a session more often than it opens it."""
    return token(value) and not _UUID.fullmatch(value)


def literal(value: str) -> bool:
    """A string literal after the name of a secret: anything but words that stand for one.

    With white space in it, few of its words may be words: text about passwords is none.
    """
    if _JOINED.fullmatch(value):
        return False
    if any(map(str.isspace, value)):
        words = value.split()
        plain = sum(word.strip(".,:;!?()'").isalpha() for word in words)
        return 2 * plain < len(words) and entropy(value) >= 3.0 and not _stands_for_a_value(value)
    return (
        any(map(str.isalnum, value))
        and value[0] not in ")]},;"
        and not _stands_for_a_value(value)
        and not is_reference(value)
        and not _is_path(value)
        and not _SENTENCE.fullmatch(value)
        and not _NAMESAKE.fullmatch(value)
        and not _KEY_CLASS.fullmatch(value)
        and not _ALGORITHM.fullmatch(value)
        and not _OBJECT.fullmatch(value)
        and value.lower() not in CONSTANTS
    )


def variable(value: str) -> bool:
    """A value after the upper-case name of a secret and an equals sign: words count as well."""
    if value.isdigit():
        return len(value) >= 6
    word = _IDENTIFIER.fullmatch(value) and not ("_" in value and value.isupper())
    return literal(value) and (bool(word) or not is_code(value))


def setting(value: str) -> bool:
    """An unquoted value after the name of a secret, which in code is an expression."""
    if value.isdigit():
        return len(value) >= 6
    return (
        literal(value)
        and not is_code(value.rstrip(",;.?:"))
        and not _TOLD.fullmatch(value)
        and not _QUALITY.fullmatch(value.rstrip(",;.?"))
        and not _is_comparison(value)
        # The beginning of `base64.b64decode(...)`; one letter and a number may be a password.
        and not (value[:2].isalpha() and TECHNICAL.fullmatch(value))
    )


def said(value: str) -> bool:
    """A value that a sentence names: "the password is ...", where any word may follow."""
    words = [part for part in _SPLIT.split(value) if not TECHNICAL.fullmatch(part)]
    return len(value) >= 6 and any(any(map(str.isdigit, word)) for word in words) and setting(value)


def chosen(value: str) -> bool:
    """A value after a short name for a password, `pass`, which in programs means other things too.

    Letters and digits stand in one word of it.
    """
    words = [part for part in _SPLIT.split(value) if not part.isdigit() and not part.isalpha()]
    return any(words) and said(value)


def mixed(value: str) -> bool:
    """A value after a word that means key and password: three digits among letters, at least."""
    parts = filter(_mixed, _SPLIT.split(value))
    return any(sum(map(str.isdigit, part)) > 2 for part in parts) and said(value)


def vendor_key(value: str) -> bool:
    """A value after the name of a service: a UUID, or a run of letters among digits.

    Some keys are short, and some are digits alone, more than an identifier has.
    """
    if _UUID.fullmatch(value):
        return len(set(value)) > 4
    if value.isdigit():
        return len(value) >= 28
    return (
        len(value) >= 14
        and not _TUNED.fullmatch(value)
        and (random_looking(value) or any(map(_mixed, _SPLIT.split(value))))
        and value[0] not in ")]},;"
        and not _stands_for_a_value(value)
        and not is_reference(value)
        and not is_code(value)
    )


def uri_password(value: str) -> bool:
    """What stands between the colon and the @ of an address: no port, no template."""
    return not re.match(r"\d{1,5}(?:[/?#,;&].*)?\Z", value, re.DOTALL) and not _stands_for_a_value(value)


def web_password(value: str) -> bool:
    """The same on the web, where a slash begins the path: with one in it, it has a digit as well."""
    return uri_password(value) and ("/" not in value or chosen(value))
