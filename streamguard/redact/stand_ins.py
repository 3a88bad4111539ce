"""Words that stand for a value, and are none themselves."""

from __future__ import annotations

import re

__all__ = ["CONSTANTS", "PLACEHOLDERS", "TECHNICAL", "TOGETHER"]

_STAND_INS = """
    a abc abcd access account an and anonymous any api app auth aws azure bad bar basic baz bearer bigint bool
    boolean bot change changeme client code config credential credentials custom database db default demo
    dev disabled django doe dummy empty enabled enter env environment example fake false fill foo foobar
    for from function generate generated github go goes google here hidden id in incorrect input insert int
    integer invalid is it jwt kennwort key keys local login masked me missing mock my myapp name needed
    new nil no none not null number oauth object of old ollama openai optional or our pass passphrase passwd
    password passwords passwort paste pat personal pk placeholder private provided pwd real redacted
    refresh replace replaceme required root sample secret secrets senha service session set shared sk some
    stored str string super symbol test testing tests text that the this to todo token tokens true type
    undefined unknown unset unused use user username value var wachtwoord with wrong xyz yes you your yours
"""
PLACEHOLDERS = frozenset(_STAND_INS.split())
# Written together: `yourapikey`, `FOOBARSECRET`. Its first word says that it is none.
TOGETHER = re.compile(
    rf"(?:your|some|fake|dummy|foobar|example|sample|placeholder|mock)"
    rf"(?:{'|'.join(word for word in _STAND_INS.split() if len(word) > 1)})+"
)
TECHNICAL = re.compile(
    r"(?:base|sha|aes|hs|rs|es|ps|md|utf|oauth|argon|pbkdf|ed|http|x|p|pkcs|rsa|bcrypt|scrypt|ipv|k|s|v)[0-9]{1,5}",
    re.IGNORECASE,
)
CONSTANTS = frozenset(
    {
        *("none", "null", "nil", "true", "false", "undefined", "nan", "void", "self", "this"),
        *("seconds", "minutes", "hours", "days"),
    }
)
