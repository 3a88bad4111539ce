r"""Values assigned to names that say they are secret, in any notation.

Strong names (password, secret, API key) make nearly any literal a secret. Weak names (token,
key, auth) are everyday words of programs, and what is assigned to them has to look random;
they count only as the last part of a longer name. Names are found in the middle of
identifiers (`DB_PASSWORD`, `dbPassword`), never followed by another word (`password_file`,
`tokenType`, `max_tokens`). A value never runs over a line break.

The rules differ in what may stand in the value's place besides a value. A string literal may
be a placeholder or a text. A shell variable may refer to another. Without quotes there may
be any expression of a programming language, and that is left alone.
"""

from __future__ import annotations

from streamguard.redact.checks import literal, secret_shaped, setting, variable
from streamguard.redact.rule import Rule
from streamguard.redact.rules.boundary import spellings

__all__ = ["ASSIGNMENTS"]

_STRONG = (
    ("password",),
    ("passwd",),
    ("passphrase",),
    ("pwd",),
    ("secret",),
    ("api", "key"),
    ("access", "key"),
    ("access", "token"),
    ("auth", "key"),
    ("auth", "token"),
    ("session", "token"),
    ("encryption", "key"),
    ("private", "key"),
    ("refresh", "token"),
    ("signing", "key"),
)
_SUFFIXES = ("key", "token", "value", "base", "old", "new", "prod", "dev", "test")
_ANCHORS = tuple({form for *_, word in _STRONG for form in (word, word.title(), word.upper())})
_NAMES = "|".join(spellings(*words) for words in _STRONG)
_SUFFIX = "|".join([*_SUFFIXES, *map(str.title, _SUFFIXES), *map(str.upper, _SUFFIXES), "[0-9]{1,2}"])
_SECRET = rf"(?:{_NAMES})(?:[_-]?(?:{_SUFFIX})){{0,2}}"

_MARK = r"""\\{0,3}["'`]"""
_CLOSED = rf"(?:{_MARK})?(?:\[[0-9]{{0,3}}\]|\])?"
_TYPE = r":[ ]?[A-Za-z&][A-Za-z0-9_.\[\]|<>'& ]{0,24}="
_GAP = r"[ \t]{0,8}"
_BOLD = r"\*{0,2}"  # in Markdown a name is often set in bold, with its colon or without
_IS = rf"{_CLOSED}{_BOLD}{_GAP}(?:{_TYPE}|(?:string|value)[ ]?=|=>|[?+.]=|!==?|[:=：]{{1,3}}){_BOLD}{_GAP}"
_OPENED = rf"[@bBfFrRuU]{{0,2}}{_MARK}"

# A string in quotes, which may hold white space if it is short; one in escaped quotes,
# as in JSON inside JSON, ends at the next backslash.
_QUOTED = "|".join(
    [
        *(
            rf"(?<=[^\\]{mark})(?:(?:[^\s{mark}\\]|\\\S){{4,}}|[^{mark}\\\n]{{4,120}})(?={mark}|\Z)"
            for mark in "\"'`"
        ),
        r"""(?<=\\["'])[^\s"'\\]{4,}(?=\\|\Z)""",
    ]
)
_STOP = r"""\s"'`,;()\[\]{}<>|&\\"""
# It may not end before an opening bracket: that would be a call or an element of something.
_END = r"""(?=[\s"'`,;.)\]}<>|&\\]|\Z)"""

_VARIABLE = (
    rf"(?:{'|'.join('_?'.join(words).upper() for words in _STRONG)}|(?<![A-Z])PASS)"
    rf"(?:_(?:{'|'.join(map(str.upper, _SUFFIXES))}|[0-9]{{1,2}})){{0,2}}"
)
_PARAMETER = rf"(?<=[?&])(?:client[_-]?|user[_-]?)?(?:{'|'.join('[_-]?'.join(words) for words in _STRONG)})"

_WEAK = ("key", "token", "auth", "pass", "creds", "credential", "credentials")
_BENIGN = ("public", "primary", "foreign", "cache", "sort")
_NOT_BENIGN = "".join(
    rf"(?<![{word[0]}{word[0].upper()}]{word[1:]}{mark})(?<!{word.upper()}{mark})"
    for word in _BENIGN
    for mark in ("", "[_ -]")
)


def _weak(word: str) -> str:
    return rf"{_NOT_BENIGN}(?:(?<![A-Za-z]){word}|{word.title()}|(?<![A-Z]){word.upper()})"


# The name and the sign after it are one literal for the prefilter: `key` alone is everywhere.
_WEAK_IS = "|".join(
    form
    for word in map(_weak, _WEAK)
    for form in (
        rf"""{word}(?:[ ]?[:=]|\(|["'](?:[ ]?:|,|\])|\\"[ ]?:)[:=>\] \t]{{0,6}}""",
        rf"{word}[ ][ ][ \t]{{0,8}}[:=]{{1,2}}[ \t]{{0,4}}",
    )
)
_WEAK_ANCHORS = tuple(form for word in _WEAK for form in (word, word.title(), word.upper()))
_ATTRIBUTE = r"""[ \t]{1,4}[A-Za-z_:.-]{1,24}=["'][^<>"'\n]{0,60}["']"""
_FLAG = "|".join(f"(?<=--{word})" for word in ("", "db-", "app-", "user-", "root-", "admin-"))
_ARGUMENT = rf"""{_SECRET}(?:["'],[ \t]{{0,12}}|\()"""

ASSIGNMENTS = (
    Rule(
        "secret-literal",
        context=rf"{_SECRET}{_IS}{_OPENED}",
        value=_QUOTED,
        anchors=_ANCHORS,
        checks=(literal,),
        description="A string literal assigned to a password, a secret or an API key",
        source="the notations of JSON, YAML, TOML, Python, JavaScript, Go, Java, PHP, Ruby",
        examples=(
            'password = "Canarypass"',
            "{'db_password': 'canary;pass word1 x2#', 'n': 1}",
            r'{"body": "{\"client_secret\": \"Canary12\"}"}',
            'password: str = "canarycanary"',
            "  'secret' => 'canarycanary',",
            "apiKey: `canary-key-0123`",
            'const ApiKey := "Canary1"',
            "MY_SECRET_TOKEN='canarycanary'",
            'config["password"] = "canary\\"1"',
            'if (password == "canarycanary") {',
            '<add key="Password" value="canarycanary1" />',
            'var apiKey string = "canarycanary1"',
            'SECRET ?= "canarycanary1"',
            "**API key:** `canary-key-0123`",
        ),
        near_misses=(
            'api_key = ""',
            'api_key = "your-api-key"',
            "password = '${DB_PASSWORD}'",
            'password = f"{password}"',
            'secret: "{{ vault.secret }}"',
            'password: "<password>"',
            '"password": "The password must have eight characters"',
            '"password": "Password"',
            'apiKey: "test"',
            'secret = "****"',
            'secret = "vault:secret/data/app#key"',
            'private_key = "/etc/ssl/private/key.pem"',
            'password_file = "/run/secrets/password1"',
            'secretName: "tls-cert-1"',
            'password = "[REDACTED]"',
            'aws_secret_access_key = "wJalrXUtnFEMI/K7MDENG/' + 'bPxRfiCYEXAMPLEKEY"',
        ),
    ),
    Rule(
        "secret-variable",
        context=rf"(?:{_VARIABLE}|{_PARAMETER})=|{_VARIABLE}:[ ]{{1,4}}",
        # After a colon it has to fill the line, as in YAML: in code that is a type or a name.
        value=r"""(?<==)[^\s"'`;|&<>\\]{4,}(?=[\s"'`;|&<>\\]|\Z)|(?<!=)[^\s"'`;|&<>\\,]{4,}(?=[\r\n\\]|\Z)""",
        anchors=(*_ANCHORS, "PASS"),
        checks=(variable,),
        description="The value of an environment variable or a parameter with a secret's name",
        source="the notation of shells, of .env files, of queries and forms",
        examples=(
            "SECRET_TOKEN=canarycanary",
            "export DB_PASSWORD=Canary@(ss)! && run",
            "API_KEY=canary0123\nNEXT=1",
            "MYSQL_PASS=canarycanary",
            r"PASSWORD=Canary1\n",
            "environment:\n  POSTGRES_PASSWORD: canarycanary\n  PGDATA: /x",
            "grant_type=password&client_secret=canarycanary&x=1",
            "https://example.com/login?password=canarycanary#top",
        ),
        near_misses=(
            "PASSWORD=$DB_PASSWORD",
            "PASSWORD=${DB_PASSWORD:-none}",
            "JFROG_SECRET=$(cat /run/secrets/token)",
            "PASSAGE=notsecret",
            "OLDPWD=/home/user",
            "PASSWORD=",
            "SECRET=true",
            "API_KEY=OTHER_API_KEY",
            "API_KEY=os.environ['KEY']",
            "MAX_PASSWORD=64",
            "CONF_PASSWORD: user_password,",
            "interface Env { API_KEY: SecretValue; }",
        ),
    ),
    Rule(
        "secret-assignment",
        context=rf"{_SECRET}{_IS}",
        value=rf"[^{_STOP}]{{3,}}[^{_STOP}.]{_END}",
        anchors=_ANCHORS,
        checks=(setting,),
        description="An unquoted value assigned to a password, a secret or an API key",
        source="the notations of YAML, INI files, connection strings and forms",
        examples=(
            "spring.datasource.password: canarycanary2",
            "password = Canary-1234",
            "host=db user=bob password=canary123 port=5432",
            "Server=db;Uid=bob;Pwd=canary123;",
            "It is password: canary12.",
            "**Password:** canary12-blue",
            "password：canary12",
        ),
        near_misses=(
            "password = config.api_key",
            "api_key = os.environ['OPENAI_API_KEY']",
            "api_key: process.env.OPENAI_API_KEY,",
            "const secret = await fetchSecret();",
            "connect(password=password, user=user)",
            "password: str",
            "password: Optional[str] = None",
            "secret = None",
            "api_key = get_key2('x')",
            "password: ${DB_PASSWORD}",
            "password: {{ .Values.password }}",
            "password: <password>",
            "password: ********",
            "password: !vault |",
            "password = password1",
            "password_reset_timeout = 3600s",
            "secret: [REDACTED]",
        ),
    ),
    Rule(
        "token-assignment",
        context=rf"(?:{_WEAK_IS}|{_ARGUMENT})(?:{_OPENED})?",
        value=(
            r"""(?<=["'`])[^\s"'`\\]{16,240}(?=["'`\\]|\Z)|"""
            rf"""(?<!["'`])[^{_STOP}]{{15,240}}[^{_STOP}.]{_END}"""
        ),
        anchors=(*_ANCHORS, *_WEAK_ANCHORS),
        checks=(secret_shaped,),
        description="A random-looking value assigned to a token, a key or credentials",
        source="the same notations, with names that mean many things",
        examples=(
            '{"token": "opaqueCanary0123456789"}',
            "GITHUB_TOKEN=canary0123ary4567abcd",
            "?token=Canary0123ary4567abcd&x=1",
            'request.setHeader("token", "canary0123ary4567abcd")',
            "'DB_PASSWORD', 'Canary0123ary4567abcd'",
            "auth    = 'canary0123ary4567abcd'",
            r'"{\"key\": \"canary0123ary4567abcd\"}"',
        ),
        near_misses=(
            "token: CPU",
            "max_tokens=1000000000000000000000",
            'IDENTITY_TOKEN="identity-token-of-bailu"',
            "per_layer_token_embd.weight=CPU0123456789abcdef",
            '"key": "ctrl+shift+down+page_up"',
            "vaultKey: 'inf-role-id-for-staging'",
            "KEYBOARD=notsecret0123456789abcdef",
            "num_key_value_heads=8",
            'public_key = "canary0123ary4567abcd"',
            'primaryKey: "canary0123ary4567abcd"',
            "token = response.usage.prompt_tokens2",
            '"key": "550e8400-e29b-41d4-a716-446655440000"',
            "key=lambda item: item.name",
        ),
    ),
    Rule(
        "secret-element",
        context=rf"{_SECRET}(?:{_ATTRIBUTE}){{0,3}}[ \t]{{0,4}}>[ \t\r\n]{{0,20}}",
        value=r"[^<>\s:;.,()\[\]{}=][^<>\s]{3,}(?=<|\Z)",
        anchors=_ANCHORS,
        checks=(literal,),
        description="The content of an XML element with a secret's name",
        source="the notation of XML: settings of Maven, responses of web services",
        examples=(
            "<password>canarycanary</password>",
            '<db:Secret id="new" >\n  Canary$1234</db:Secret>',
            "<SecretAccessKey>canary0123</SecretAccessKey>",
        ),
        near_misses=(
            "<password>${env.PASSWORD}</password>",
            "<password></password>",
            "<password>Enter your password</password>",
            "<password>changeme</password>",
            "<passwordPolicy>strict1</passwordPolicy>",
        ),
    ),
    Rule(
        "secret-flag",
        context=rf"(?:{_FLAG})(?:{_NAMES}|client-secret|token|pass)(?:=|[ \t]{{1,3}})(?:{_MARK})?",
        value=r"""[^\s"'`;|&<>\\$({\[-][^\s"'`;|&<>\\]{3,}""",
        anchors=(*_ANCHORS, "token", "pass"),
        checks=(setting,),
        description="The value of a command line's flag for a password, a secret or a token",
        source="the notation of command lines",
        examples=(
            "mysql --password=canary12 --user bob",
            "tool --api-key canary12",
            'tool --client-secret "canary12!"',
            "tool --access-token Canary-1234",
        ),
        near_misses=(
            "use the --password option of it",
            "tool --token $TOKEN",
            "tool --api-key <key>",
            "tool --token YOUR_TOKEN",
            "tool --password-file x1y2z3",
            "tool --secret=${SECRET}",
            "tool --password -u root",
        ),
    ),
)
