r"""Values that a text tells: in a sentence, in a table, in a statement.

Any word may follow the name of a secret in a text, so a value has to have a digit there.
"""

from __future__ import annotations

from streamguard.redact.checks import literal, said
from streamguard.redact.rule import Rule
from streamguard.redact.rules.names import ANCHORS, SECRET
from streamguard.redact.rules.notation import STOP

__all__ = ["TELLING"]

_CELL = "|".join(
    [
        *(rf"(?<=\|{before})" for before in ("", "[ ]", r"[ ]\*\*", "[ ]`")),
        *(rf"(?<=\|{space}{'[A-Za-z]' * width}[ _])" for width in range(2, 6) for space in ("", "[ ]")),
    ]
)

_SAID_ANCHORS = (
    "assword",
    "assphrase",
    "asscode",
    "ecret",
    "ecret key",
    "ecret Key",
    "API key",
    "API Key",
    "ccess key",
    "ccess Key",
    "ccess token",
    "ccess Token",
)
_SAID = "|".join(_SAID_ANCHORS)

_WHOSE = r"(?:[ ](?:for|of)(?:[ ][A-Za-z0-9_.@'`*-]+){1,4}|[ ]\([^()\n]+\))"  # Password for root

TELLING = (
    Rule(
        "secret-cell",
        context=rf"(?:{_CELL})(?:{SECRET})[*`]{{0,2}}[ \t]*\|[ \t]+[*`]{{0,2}}",
        value=r"[^\s|`*<>]{6,}(?=[\s|`*]|\Z)",
        anchors=ANCHORS,
        checks=(said,),
        description="The cell beside a secret's name in a table of Markdown",
        source="the notation of Markdown tables",
        examples=(
            "| password | canary0123 |",
            "| **API key** | `canary-0123` |",
            "|DB_PASSWORD| canary0123 |",
            "| API Key | canary-0123 |",
            "| Secret Key | canary-0123 |",
        ),
        near_misses=(
            "| password | string |",
            "| Password | varchar(64) |",
            "| api_key | required | 1234567 |",
            "| --- | --- |",
            "{{ password | b64encode }}",
            "| password | base64-encoded |",
        ),
    ),
    Rule(
        "secret-said",
        context=(
            rf"(?:{_SAID})(?:(?:{_WHOSE})?[ ](?:is|was|to|will be)(?:[ ]now)?:?|(?:{_WHOSE})[ ]?[:=])"
            r"[ ][\"'`*]{0,3}"
        ),
        value=rf"[^{STOP}*][^{STOP}]{{4,}}[^{STOP}.:!?*](?=[\s\"'`,;.:!?)*\]]|\Z)",
        anchors=_SAID_ANCHORS,
        checks=(said,),
        description="A password, a secret or a key that a sentence names",
        source="how people and models write: the password is ...",
        examples=(
            "The password is canary0123.",
            "Your new API key is `canary-0123`, keep it.",
            "I set the password to **canary0123**!",
            "secret key is: canary0123",
            "API Key is canary0123",
            "Password for root: canary0123",
            "the password for the new db: `canary0123`",
            "The password of bob@example.com is canary0123",
            "Password (admin): canary0123",
        ),
        near_misses=(
            "The password is required.",
            "The password is base64-encoded.",
            "The secret is HMAC-SHA256 signed",
            "The password is 8 characters long",
            "set the password to something better",
            "The API key is stored in config1.yaml",
            "The password is sha256(password1)",
            "Password for the user: required",
            "the password of the user: see config1.yaml",
            "Password (8-20 characters): required",
        ),
    ),
    Rule(
        "sql-password",
        context=(
            r"""(?:IDENTIFIED(?:[ ]WITH[ ][A-Za-z0-9_'"`]+)?[ ](?:BY|AS)(?:[ ]PASSWORD)?"""
            r"""|(?<=["'`%])[ ]identified by"""
            r"""|(?:WITH|ENCRYPTED|LOGIN)[ ]PASSWORD|(?:with|encrypted|login)[ ]password)[ ]["']"""
        ),
        value=r"""(?<=')[^\s'\\]{4,}(?='|\Z)|(?<=")[^\s"\\]{4,}(?="|\Z)""",
        anchors=("IDENTIFIED", "identified by", "PASSWORD", "password"),
        checks=(literal,),
        description="The password in a statement of SQL that creates or alters a user",
        source="the documentation of MySQL, PostgreSQL and Oracle: CREATE USER and CREATE ROLE",
        examples=(
            "CREATE USER 'bob'@'%' IDENTIFIED BY 'canarycanary';",
            "IDENTIFIED WITH mysql_native_password BY 'canarycanary'",
            "grant all on db.* to 'bob'@'localhost' identified by 'canary0123'",
            "CREATE ROLE bob WITH LOGIN PASSWORD 'canarycanary';",
            'alter user bob with password "canary0123"',
        ),
        near_misses=(
            "CREATE USER bob IDENTIFIED BY 'password'",
            "ALTER USER bob WITH PASSWORD '${DB_PASSWORD}'",
            "the row is identified by 'customer'",
            "CREATE ROLE bob WITH PASSWORD 'your-password'",
        ),
    ),
)
