"""Credentials in HTTP headers, cookies, and on the command lines of the tools that send them.

Only the credential is replaced.
"""

from __future__ import annotations

import re

from streamguard.redact.checks import basic_credentials, cookie, literal, opaque, setting, token
from streamguard.redact.rule import Rule
from streamguard.redact.rules.boundary import spellings

__all__ = ["AUTH_HEADERS"]

_BLANK = r"(?:[ \t]{1,2}|%20|\+)"
_QUOTE = r"""(?:\\{0,3}["'])?"""
_IS = rf"{_QUOTE}[ \t]{{0,4}}[:=][ \t]{{0,4}}{_QUOTE}"
_ARGUMENT = r"""["'],[ \t]{0,4}["']"""
# Inside a longer name, as in those of CloudFormation's types, it is none of HTTP's.
_AUTHORIZATION = rf"(?<![A-Za-z:]){spellings('authorization')}(?:{_IS}|{_ARGUMENT})"
_SCHEMES = ("bearer", "token", "basic", "key", "negotiate", "ntlm", "oauth", "ssws", "bot")
_SCHEME = "|".join([*map(spellings, _SCHEMES), spellings("api", "key"), spellings("api", "token")])
_TOKEN68 = r"(?:\.*[A-Za-z0-9_~+/-]){8,}={0,3}"
_COOKIES = (
    "connect.sid",
    "_gitlab_session",
    "JSESSIONID",
    "PHPSESSID",
    "ASP.NET_SessionId",
    "laravel_session",
    "user_session",
    "remember_token",
    "li_at",
    "SAPISID",
)
# Names that are those of fields and of columns as well: what follows a colon is an identifier.
_EVERYDAY_COOKIES = ("sessionid", "session-token", "_session", "HSID", "SSID")
_COOKIE = "|".join(map(re.escape, _COOKIES))
_EVERYDAY_COOKIE = "|".join(_EVERYDAY_COOKIES)
_FLAGS = r"(?:-u[ ]{0,2}|--(?:proxy-)?user(?:[ ]{1,2}|=)|-U[ ]{1,2})"
_LOGIN = "|".join(
    [
        r"sshpass[ ]{1,2}-p[ ]{0,2}",
        r"mysql(?:dump|admin)?[ ](?:[^\n|;&]*[ ])?-p",
        r"redis-cli[ ](?:[^\n|;&]*[ ])?(?:-a|--pass)[ ]{1,2}",
        r"mongo(?:sh|dump|restore|export|import)?[ ](?:[^\n|;&]*[ ])?-p[ ]{1,2}",
        r"ldap(?:search|modify|add|delete|passwd|whoami)[ ](?:[^\n|;&]*[ ])?-w[ ]{1,2}",
        r"sqlcmd[ ](?:[^\n|;&]*[ ])?-P[ ]{0,2}",
    ]
)
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
        "App-Token",
        "Admin-Token",
        "Application-Key",
        "Functions-Key",
        "RapidAPI-Key",
        "Master-Key",
        "Service-Token",
        "Session-Token",
        "Refresh-Token",
        "CLI-Token",
        "Deploy-Token",
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
            '"AWS::Redshift::EndpointAuthorization": "e72be424d109da1d"',
        ),
    ),
    Rule(
        "header-key",
        context=rf"(?:{_NAMES}){_IS}|(?<=[\"'])(?:[Xx]-)?(?:{_NAMES}){_ARGUMENT}",
        # Two equals signs are a requirement of a package's version, or a comparison.
        value=rf"(?!=){_UNQUOTED}{{8,}}",
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
            "node-deploy-token==4.25.17.post20241105",
            "provider(api_key='your-api-key', http_client=custom_http_client2)",
        ),
    ),
    Rule(
        "cookie",
        context=(
            rf"(?:{_COOKIE})(?:=|%3D|{_QUOTE}[ ]{{0,2}}[:,][ ]{{0,2}}{_QUOTE})"
            rf"|(?:{_EVERYDAY_COOKIE})(?:=|%3D)"
        ),
        value=r"[A-Za-z0-9%_.+/~|:-]{12,}={0,2}",
        anchors=(*_COOKIES, *_EVERYDAY_COOKIES),
        checks=(cookie,),
        description="The value of a cookie that carries a session",
        source="the names web frameworks and sites give to their session cookies",
        examples=(
            "Cookie: lang=en; _gitlab_session=canary0123ary4567abcd; x=1",
            "Set-Cookie: connect.sid=s%3ACanary12.abcd5678; Path=/",
            'cookies = {"connect.sid": "canary0123ary4567"}',
            "curl -b sessionid=canary0123ary4567 https://api.example.com",
            "Cookie: PHPSESSID=canary0123canary4567",
        ),
        near_misses=(
            "Cookie: sessionid=<session id>",
            "cookies = {'sessionid': session.session_key}",
            "PHPSESSID=...",
            "request.cookies.get('sessionid', default)",
            "JSESSIONID: the_session_identifier",
            '{"event": "login", "session_id": "7d89cc9a-255c-ee5e-22ab-b6481e9d9ec5"}',
            '"session_id": "3fa2ad0d808c59122358"',
            "user_session=7d89cc9a-255c-ee5e-22ab-b6481e9d9ec5",
            "session_id=3fa2ad0d808c59122358",
        ),
    ),
    Rule(
        "cookie-header",
        context=(
            r"(?:[Cc]ookie|COOKIE)[\"']?[ ]?:[ ]{0,2}[\"']?(?:[^\s=;]+=[^\s;]*;[ ]?)*"
            r"(?:[Ss]ession|session_?id|[Ss]id|SID|[Tt]oken|[Aa]uth|jwt|[Aa]uthorization|_session)="
        ),
        value=r"[A-Za-z0-9%_.+/~|:-]{12,}={0,2}",
        anchors=("ookie", "OOKIE"),
        checks=(token,),
        description="A cookie of an everyday name for a session, in a header",
        source="RFC 6265",
        examples=(
            "Cookie: session=canary0123ary4567abcd",
            "Cookie: lang=en; theme=dark; sid=canary0123ary4567abcd; x=1",
            "cookie: session_id=canary0123ary4567abcd",
        ),
        near_misses=("Cookie: session=<value>", "cookie: lang=en-0123456789abcd", "Cookie: session=$SESSION"),
    ),
    Rule(
        "netrc",
        context=r"machine\s+[^\s]+\s+login\s+[^\s]+\s+password\s+",
        value=r"[^\s\"'`\\]{3,}(?=[\s\"'`\\]|\Z)",
        anchors=("machine",),
        checks=(literal,),
        description="The password of a machine in a .netrc file",
        source="netrc(5)",
        examples=(
            "machine example.com login bob password canarycanary",
            "machine api.example.com\n  login bob\n  password Canary12\n",
        ),
        near_misses=(
            "machine example.com login bob password <password>",
            "the machine lets you login with a password you choose",
        ),
    ),
    Rule(
        "curl-user",
        context=rf"curl[ ](?:[^\n]*[ ])?{_FLAGS}[\"']?[^\s\"':$<>{{}}]{{0,64}}:[\"']?",
        value=r"[^\s\"'`<>]{3,}(?=[\s\"'`]|\Z)",
        anchors=("curl ",),
        checks=(literal,),
        description="The password given to curl on its command line",
        source="curl(1): -u, --user, --proxy-user",
        examples=(
            "curl -u bob:Canary12! https://api.example.com",
            "curl -s --user 'api:canary0123' https://api.example.com",
            'curl -X POST --proxy-user "bob:Canary$12" https://api.example.com',
            'curl -u ":canary0123" https://localhost:9200',
        ),
        near_misses=(
            "curl -u bob:$PASSWORD https://api.example.com",
            "curl -u username:password https://api.example.com",
            'curl -u "$USER:$PASS" https://api.example.com',
            "curl -u <user>:<password> https://api.example.com",
            "curl https://api.example.com:8080/path",
        ),
    ),
    Rule(
        "curl-key",
        context=rf"curl[ ](?:[^\n]*[ ])?{_FLAGS}[\"']?",
        value=r"[^\s\"'`<>:]{12,}(?=:)",
        anchors=("curl ",),
        checks=(opaque,),
        description="A key given to curl in the place of the user's name",
        source="services whose key is the user of basic authentication, with no password",
        examples=(
            "curl https://api.example.com/v1/charges -u canary0123ary4567abcd:",
            'curl -u "canary0123ary4567abcd:" https://api.example.com',
        ),
        near_misses=(
            "curl -u administrator: https://api.example.com",
            "curl -u some-user-name:$PASSWORD https://api.example.com",
        ),
    ),
    Rule(
        "login-password",
        context=rf"(?:{_LOGIN})[\"']?",
        value=r"[^\s\"'`<>$|;&-][^\s\"'`<>|;&]{3,}(?=[\s\"'`|;&]|\Z)",
        anchors=("sshpass", "mysql", "redis-cli", "mongo", "ldap", "sqlcmd"),
        checks=(literal,),
        description="The password given to sshpass or to the clients of databases and directories",
        source="sshpass(1); mysql(1): -p with the password right behind it; redis-cli -a, sqlcmd -P",
        examples=(
            "sshpass -p 'Canary12' ssh bob@example.com",
            "sshpass -pCanary12 ssh bob@example.com",
            "mysqldump -u root -pCanary12 app > app.sql",
            "mysql -h db -pcanary0123 app",
            "redis-cli -h cache -a canary0123 ping",
            "mongosh -u bob -p 'canary0123' --host db",
            "ldapsearch -x -D cn=admin -w canary0123",
            "sqlcmd -S db -U sa -P canary0123",
        ),
        near_misses=(
            "mysql -u root -p app",
            "mysql -u root -p$PASSWORD app",
            "sshpass -p <password> ssh bob@example.com",
            "sshpass -p $PASSWORD ssh",
            "redis-cli -a $REDIS_PASSWORD ping",
            "mongosh -u bob -p --host db",
            "ldapsearch -x -W -D cn=admin",
        ),
    ),
    Rule(
        "auth-pair",
        context=(
            r"""(?:auth[ ]?=[ ]?\(|(?:Basic|Digest)Auth\(|["']auth["'][ ]?(?:=>|:)[ ]?\[)"""
            r"""[ ]?["'][^"'\n]+["'],[ ]?["']"""
        ),
        value=r"""[^\s"'\\]{4,}(?=["'\\]|\Z)""",
        anchors=("auth", "BasicAuth(", "DigestAuth("),
        checks=(literal,),
        description="The password of a pair of name and password that is given to a client of HTTP",
        source="the documentation of Requests, HTTPX, Go's net/http and Guzzle",
        examples=(
            "requests.get(url, auth=('bob', 'canarycanary'))",
            'HTTPBasicAuth("bob","canarycanary")',
            'req.SetBasicAuth("bob", "canarycanary")',
            "'auth' => ['bob', 'canarycanary']",
        ),
        near_misses=(
            "requests.get(url, auth=('user', 'pass'))",
            'requests.get(url, auth=("bob", "your-password"))',
            "requests.get(url, auth=(user, password))",
            "requests.get(url, auth=('bob', os.environ['PASSWORD']))",
            "'auth' => ['login', 'password']",
        ),
    ),
    Rule(
        "docker-login",
        context=r"(?:docker|podman|helm|helm registry|oras|skopeo|buildah|crane) login [^\n|;&]*-p[ =][\"']?",
        value=r"[^\s\"'`<>$|;&-][^\s\"'`<>|;&]{3,}(?=[\s\"'`|;&]|\Z)",
        anchors=("login ",),
        checks=(literal,),
        description="The password given to a client of container registries",
        source="docker login: -p, --password",
        examples=(
            "docker login -u bob -p Canary12 registry.example.com",
            "helm registry login -u bob -p 'canary0123' registry.example.com",
        ),
        near_misses=(
            "docker login -u bob -p $PASSWORD",
            "docker login -u bob -p <password>",
            "docker login --password-stdin -u bob",
        ),
    ),
)
