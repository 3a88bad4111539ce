"""Credentials in HTTP headers: only the credential is replaced."""

from __future__ import annotations

from streamguard.redact.checks import basic_credentials, literal, opaque, setting, token
from streamguard.redact.rule import Rule
from streamguard.redact.rules.boundary import spellings

__all__ = ["AUTH_HEADERS"]

_BLANK = r"(?:[ \t]{1,2}|%20|\+)"
_QUOTE = r"""(?:\\{0,3}["'])?"""
_IS = rf"{_QUOTE}[ \t]{{0,4}}[:=][ \t]{{0,4}}{_QUOTE}"
_ARGUMENT = r"""["'],[ \t]{0,4}["']"""
_AUTHORIZATION = rf"{spellings('authorization')}(?:{_IS}|{_ARGUMENT})"
_SCHEMES = ("bearer", "token", "basic", "key", "negotiate", "ntlm", "oauth", "ssws", "bot")
_SCHEME = "|".join([*map(spellings, _SCHEMES), spellings("api", "key"), spellings("api", "token")])
_TOKEN68 = r"(?:\.*[A-Za-z0-9_~+/-]){8,}={0,3}"
_UNQUOTED = r"""[^\s"'`,;\\<>{}]"""


def _header(name: str) -> tuple[str, ...]:
    """The ways in which the name of a header is written."""
    return tuple({name, name.lower(), name.upper(), name.replace("Api", "API")})


# Their customary X- is left out: what stands before does not matter.
_NAMES = "|".join(
    form
    for name in (
        "Api-Key",
        "Api-Token",
        "Auth-Token",
        "Access-Token",
        "Private-Token",
        "Job-Token",
        "Vault-Token",
        "Security-Token",
        "Subscription-Key",
        "Figma-Token",
        "Circle-Token",
    )
    for form in sorted(_header(name))
)

AUTH_HEADERS = (
    Rule(
        "auth-scheme",
        context=rf"{_AUTHORIZATION}(?:{_SCHEME}){_BLANK}",
        value=rf"{_UNQUOTED}{{8,}}",
        anchors=("uthorization", "UTHORIZATION"),
        checks=(literal,),
        description="The credential of an Authorization header that names its scheme",
        source="RFC 9110, credentials; the registry of authentication schemes",
        examples=(
            "Authorization: Bearer canarycanarycanary",
            'curl -H "Authorization: token opaque-canary-1234567890" https://api.example.com',
            "{'Authorization': 'Basic Q2FuYXJ5OkNhbmFyeQ=='}",
            r'"{\"Authorization\": \"Bearer Canary.1234\"}"',
            "proxy-authorization: basic Y2FuYXJ5OmNhbmFyeQ",
        ),
        near_misses=(
            "Authorization: Bearer <token>",
            "Authorization: Bearer $API_KEY",
            'headers = {"Authorization": f"Bearer {api_key}"}',
            'headers = {"Authorization": "Bearer " + token}',
            "Authorization: Token **********",
            "Authorization: Bearer YOUR_API_KEY",
            "the authorization model is fully open",
        ),
    ),
    Rule(
        "auth-bearer",
        context=rf"(?:[Bb]earer|BEARER){_BLANK}",
        value=_TOKEN68,
        anchors=("earer", "EARER"),
        checks=(token,),
        description="A bearer token, wherever the word stands before it",
        source="RFC 6750: the alphabet of a bearer token",
        examples=(
            "it sends Bearer Canary12abcd5678.",
            "bearer canarycanary12567812345678",
            "Bearer%20Canary-1234_abcd~5678/9+==",
        ),
        near_misses=(
            "a bearer of good news, bearer authentication and Bearer tokens",
            "Bearer XXXXXXXXXXXX",
            "Bearer short1",
            "Bearer config.api_key2",
        ),
    ),
    Rule(
        "auth-basic",
        context=rf"(?:[Bb]asic|BASIC){_BLANK}",
        value=r"[A-Za-z0-9+/]{6,240}={0,2}(?![A-Za-z0-9+/=])",
        anchors=("asic", "ASIC"),
        checks=(basic_credentials,),
        description="Basic credentials: base64 of a user's name, a colon and a password",
        source="RFC 7617",
        examples=("it sends Basic Q2FuYXJ5OkNhbmFyeTEyMw to the server", "basic Y2FuYXJ5OmNhbmFyeQ=="),
        near_misses=("Basic authentication, basic Understanding", "Basic c29tZXRoaW5n", "Visual Basic"),
    ),
    Rule(
        "auth-raw",
        context=_AUTHORIZATION,
        value=rf"{_UNQUOTED}{{16,}}",
        anchors=("uthorization", "UTHORIZATION"),
        checks=(opaque,),
        description="The credential of an Authorization header without a scheme",
        source="services that take the bare key in this header",
        examples=(
            "Authorization: canary12-canary-5678-abcd-0123456789ab",
            '"authorization": "Canary1a2b3c4d5e6f7g8"',
        ),
        near_misses=(
            "Authorization: AWS4-HMAC-SHA256 Credential=...",
            "authorization: request.headers.authorization",
            "Authorization: Negotiate",
        ),
    ),
    Rule(
        "header-key",
        context=rf"(?:{_NAMES}){_IS}|(?<=[\"'])(?:[Xx]-)?(?:{_NAMES}){_ARGUMENT}",
        value=rf"{_UNQUOTED}{{8,}}",
        anchors=tuple(_NAMES.split("|")),
        checks=(setting,),
        description="The key in a header that carries nothing else, such as x-api-key",
        source="documentation of the services that use these headers",
        examples=(
            "x-api-key: opaque-canary-1234567890",
            "curl -H 'X-API-Key: Canary12' https://api.example.com",
            'headers = {"PRIVATE-TOKEN": "Canary-1234-5678"}',
            r"{\"X-Vault-Token\":\"Canary.1234567890\"}",
            'request.header("X-Api-Key", "Canary-1234")',
            "Ocp-Apim-Subscription-Key: canary0123ary4567",
        ),
        near_misses=(
            "x-api-key: <your key>",
            'headers = {"x-api-key": api_key}',
            'headers = {"X-API-Key": os.environ["KEY"]}',
            "X-API-Key: {{ api_key }}",
            "x-api-key: $API_KEY",
            "Api-Key: your-api-key",
            "provider(api_key='your-api-key', http_client=custom_http_client2)",
        ),
    ),
)
