"""Tokens in forms that any service may issue, signed addresses, and hashes of passwords."""

from __future__ import annotations

import base64

from streamguard.redact.checks import base64_text, genuine, secret_shaped
from streamguard.redact.rule import Rule
from streamguard.redact.rules.boundary import LEFT, UNMASKED

__all__ = ["TOKENS"]

_PART = r"[A-Za-z0-9_-]"
_DOT = r"(?:=|%3[Dd]){0,2}\."
_HEADER = "eyJhbGciOiJDYW5hcnkifQ"  # {"alg":"Canary"}
_PAYLOAD = "eyJjYW5hcnkiOiJDYW5hcnkifQ"

_COMMON = ["alg", "typ", "kid", "enc", "cty", "jku", "jwk", "x5c", "x5t", "x5u", "zip", "b64", "use", "iss"]
_MEMBERS = [*_COMMON, "tag", "iv", "epk", "apu", "apv", "p2s", "p2c", "crit", "nonce"]


def _twice(text: str) -> str:
    """What base64 of the base64 of a text begins with, whatever follows it."""
    once = base64.b64encode(text.encode())[: len(text) * 4 // 3]
    return base64.b64encode(once).decode()[: len(once) * 4 // 3]


def _inside(text: str) -> tuple[str, ...]:
    """What base64 of a longer text has in it where this stands, at each of three alignments."""
    return tuple(
        base64.b64encode(bytes(offset) + text.encode()).decode()[-(-offset * 4 // 3) :][
            : (len(text) * 4 - 3) // 3
        ]
        for offset in range(3)
    )


_TWICE = tuple(_twice(f'{{"{member}":') for member in _MEMBERS)

_BEFORE_SECRETS = (
    "aws_secret_access_key",
    "AWS_SECRET_ACCESS_KEY",
    '"private_key": "-----BEGIN',
    '"private_key":"-----BEGIN',
    '"auths":',
)
_ENCODED_NAMES = tuple(needle for name in _BEFORE_SECRETS for needle in _inside(name))

# Of an object in YAML: its lines, those inside its members too, and an entry up to its value.
_NEXT = r"[ \t]*\r?\n"
_LINES = r"(?:(?:[A-Za-z]+:|[ \t])[^\n]*\n)*"
_ENTRY = rf"""[ \t]+["']?[A-Za-z0-9._-]+["']?:[ ](?:[>|][+-]?{_NEXT}[ \t]+)?["']?"""
_VALUE = r"[A-Za-z0-9+/]{8,}={0,2}"

_ENCODED = base64.b64encode(b"Canary-0123").decode()
_PLAIN = base64.b64encode(b"some words").decode()

_PARAMETER = r"(?:[?&;]|\\u0026|%26|%3[Ff])"
_SIGNATURES = ("sig", "Signature", "signature", "hmac", "Policy")
_TICKETS = ("id_token", "oauth_token", "oauth_verifier", "ticket", "magic", "magic_link", "otp", "invite")
_STEPS = ("magic", "magic-link", "reset-password", "password-reset", "reset", "verify-email", "activate")

_SALT = r"[^\s$:'\"<>]{1,24}"
_CRYPT = r"[./A-Za-z0-9]"


TOKENS = (
    Rule(
        "jwt",
        # The header is bounded, so that base64 of JSON with no dot in it is soon let go.
        value=(
            rf"{LEFT}eyJ{_PART}{{10,220}}{_DOT}"
            rf"(?:eyJ{_PART}{{5,}}|{_PART}{{10,}}|\.{_PART}{{10,}})(?:{_DOT}{_PART}+){{0,3}}"
        ),
        anchors=("eyJ",),
        description="JSON Web Tokens, signed, encrypted or without a signature",
        source="RFC 7519 and 7516: base64url of a JSON object, parts joined by dots",
        examples=(
            f"{_HEADER}.{_PAYLOAD}." + "Canary_123" * 5,
            f'"id_token": "{_HEADER}.{_PAYLOAD}"',
            f"before {_HEADER}.{_PAYLOAD} after.",
            f"{_HEADER}=.{_PAYLOAD}=.Canary12",
            f"{_HEADER}..{'Canary12' * 2}.{'Canary12' * 8}.{'Canary' * 5}",
        ),
        near_misses=("eyJust a normal word", f"{_HEADER} alone", "eyJ.eyJ.sig", "a.eyJ" + "x" * 300),
    ),
    Rule(
        "jwt-base64",
        value=rf"{LEFT}(?:{'|'.join(_TWICE)})[A-Za-z0-9+/_-]{{24,}}={{0,2}}",
        anchors=_TWICE,
        description="JSON Web Tokens in base64 once more",
        source="RFC 7515, the header's members; secrets of Kubernetes",
        examples=(
            "token: " + _twice('{"alg":') + "Canary12" * 12,
            '"' + _twice('{"kid":') + "Canary12" * 12 + '=="',
        ),
        near_misses=("ZXlKaGJHY", "token: ZXlKabcdefgh" + "abcdefgh" * 8),
    ),
    Rule(
        "settings-base64",
        context="|".join(_ENCODED_NAMES),
        value=r"[A-Za-z0-9+/_-]{24,}(?:\r?\n[A-Za-z0-9+/]{40,})*={0,2}",
        anchors=_ENCODED_NAMES,
        description="Credentials of AWS, Google and Docker in base64 as a whole file, from their name on",
        source="RFC 4648, of ~/.aws/credentials, Google's service accounts and ~/.docker/config.json",
        # At each of the three alignments; the canary as base64 of base64 has it.
        examples=tuple(
            base64.b64encode(f"{before}{tail}CanaryCanaryCanaryCanary".encode()).decode()
            for before, tail in (
                ("aws_secret_access_key = ", ""),
                ("\n\naws_secret_access_key = ", " "),
                ("[default]\n aws_secret_access_key = ", " "),
                ('{"type": "x", "private_key": "-----BEGIN PRIVATE KEY-----\\n', "M"),
                ('{"auths": {"registry.example.com": {"auth": "', ""),
            )
        ),
        near_misses=(
            "YXdzX3NlY3JldF9hY2Nlc3Nfa2V5",
            "aws_secret_access_key",
            base64.b64encode(b'{"authors": ["somebody", "somebody else", "a third one"]}').decode(),
        ),
    ),
    Rule(
        "kubernetes-secret",
        context=(
            rf"""(?:kind:[ ]["']?[Ss]ecret["']?{_NEXT}{_LINES}|apiVersion:[ ]["']?v1["']?{_NEXT})"""
            rf"""(?:data|stringData):{_NEXT}(?:[ \t][^\n]*\n)*{_ENTRY}"""
        ),
        # A finding ends its context: the entries that follow belong to it.
        value=rf"""{_VALUE}(?:["']?{_NEXT}{_ENTRY}{_VALUE})*(?=[\s"']|\Z)""",
        anchors=("kind: ", "apiVersion: "),
        checks=(base64_text,),
        description="The values of a Secret of Kubernetes, in base64",
        source="Kubernetes' documentation of Secrets: every value under data is in base64",
        examples=(
            "apiVersion: v1\nkind: Secret\nmetadata:\n  name: db\ndata:\n  first: "
            + _ENCODED
            + "\n  second: "
            + _ENCODED,
            "apiVersion: v1\ndata:\n  extra: '" + _ENCODED + "'\nkind: Secret\n",
            "kind: Secret\ndata:\n  .dockercfg: |\n    " + _ENCODED + "\n",
        ),
        near_misses=(
            "apiVersion: v1\ndata:\n  level: information\n  mode: standard\nkind: ConfigMap\n",
            "kind: ConfigMap\ndata:\n  first: " + _PLAIN + "\n",
            "kind: Secret\nmetadata:\n  name: " + _PLAIN + "\n",
            "kind: Secret\n\nThe data: " + _PLAIN + "\n",
        ),
    ),
    Rule(
        "paseto",
        value=(
            rf"{LEFT}(?:v[1-4]\.(?:local|public)|k[1-4]\.(?:local|secret)(?:-pw|-wrap\.pie)?)"
            rf"\.{UNMASKED}{_PART}{{24,}}(?:\.{_PART}+)?"
        ),
        anchors=tuple(
            f"{kind}{version}.{use}"
            for kind, uses in (("v", ("local.", "public.")), ("k", ("local", "secret")))
            for version in "1234"
            for use in uses
        ),
        description="PASETO tokens and the secret keys to them",
        source="PASETO's specification, versions 1 to 4; PASERK",
        examples=(
            "v4.local." + "Canary12" * 8,
            "x=v2.public." + "Canary12" * 8 + ".Canary12",
            "k4.secret." + "Canary12" * 8,
        ),
        near_misses=("v2.local.example.com", "k4.public." + "abcdefgh" * 8, "v1.public.api"),
    ),
    Rule(
        "macaroon",
        value=rf"{LEFT}MDA[A-Za-z0-9]{{3}}xvY2F0aW9uI[A-Za-z0-9+/_-]{{24,}}={{0,2}}",
        anchors=("xvY2F0aW9uI",),
        description="Macaroons in their first serialisation",
        source="libmacaroons: base64 of packets, the first of which is the location",
        examples=(
            "MDAyMW" + "xvY2F0aW9uI" + "Canary12" * 12,
            '"MDAxY2' + "xvY2F0aW9uI" + "Canary12" * 12 + '"',
        ),
        near_misses=("MDAyMWxvY2F0aW9uI", "MDAyMWxhY2F0aW9uI" + "abcdefgh" * 8),
    ),
    Rule(
        "openshift",
        value=rf"{LEFT}sha256~{UNMASKED}{_PART}{{20,}}",
        anchors=("sha256~",),
        description="Tokens of OpenShift's users",
        source="OpenShift's documentation of OAuth access tokens: sha256~ and 43 characters",
        examples=("oc login --token=sha256~" + "Canary12" * 5 + "abc", '"sha256~' + "Canary-_" * 5 + '"'),
        near_misses=("sha256~...", "sha256~" + "x" * 43, "sha256:" + "abcdef01" * 8),
    ),
    Rule(
        "signed-url",
        context=(
            rf"{_PARAMETER}(?:{'|'.join(_SIGNATURES)})="
            r"|(?:[Xx]-[Gg]oog-[Ss]ignature|[Xx]-(?:[Aa]mz|[Gg]oog)-[Ss]ecurity-[Tt]oken)(?:=|%3D)"
        ),
        value=r"[A-Za-z0-9%+/_~-]{26,}={0,2}",
        anchors=(*(f"{name}=" for name in _SIGNATURES), "-Signature", "-signature", "ecurity-"),
        checks=(genuine,),
        description="The signature of an address that gives access to whoever has it",
        source="documentation of signed addresses: Amazon S3 and CloudFront, Google and Azure storage",
        examples=(
            "https://b.example.com/o?X-Goog-Signature=" + "ca0123ca456789" * 4,
            "?se=2030&sig=" + "Canary12" * 5 + "%3D&sv=1",
            r"?a=1\u0026Signature=" + "Canary~-" * 8 + "&Key-Pair-Id=K2",
            "&X-Amz-Security-Token=" + "Canary12" * 12 + "&x=1",
        ),
        near_misses=(
            "?sig=short&x=1",
            "?signature=none",
            "X-Goog-Signature=<signature>",
            "&Signature=abcdefghijklmnopqrstuvwxyz%2FEXAMPLE",
            "let sig=" + "abcdefgh" * 5,
        ),
    ),
    Rule(
        "aws-signature",
        context=r"[Xx]-[Aa]mz-[Ss]ignature(?:=|%3D)",
        value=rf"{UNMASKED}[0-9a-f]{{64}}(?![A-Za-z0-9])",
        anchors=("mz-Signature", "mz-signature"),
        description="The signature of an address at Amazon that gives access to whoever has it",
        source="Amazon's documentation of Signature Version 4: the hexadecimal form of a SHA-256",
        examples=(
            "https://b.example.com/o?X-Amz-Signature=" + "ca0123ca45678901" * 4,
            "x-amz-signature%3D" + "45678901ca0123ca" * 4 + "%26x",
        ),
        near_misses=(
            "X-Amz-Signature=<signature>",
            "X-Amz-Signature=" + "0123EXAMPLE01234" * 4,
            "X-Amz-Signature=" + "0123456789abcdef" * 3,
        ),
    ),
    Rule(
        "link-token",
        context=(rf"(?:[?&#;]|\\u0026)(?:{'|'.join(_TICKETS)})=|/(?:{'|'.join(_STEPS)})(?:/|\?token=)"),
        value=r"[A-Za-z0-9._~%-]{16,}(?=[^A-Za-z0-9._~%/=-]|\Z)",
        anchors=(*(f"{name}=" for name in _TICKETS), *(f"/{step}" for step in _STEPS)),
        checks=(secret_shaped,),
        description="The token in a link that logs in, resets a password or confirms an address",
        source="the form of such links in web frameworks and identity services",
        examples=(
            "https://app.example.com/magic-link/canary0123ary4567abcd",
            "https://app.example.com/cb#id_token=canary0123ary4567abcd&state=1",
            "https://app.example.com/reset-password/Canary12-ab34cd56ef78",
        ),
        near_misses=(
            "https://app.example.com/reset-password/how-to-do-it",
            "https://app.example.com/invite?ticket=PROJECT-1234",
            "/activate/550e8400-e29b-41d4-a716-446655440000",
        ),
    ),
    Rule(
        "password-hash",
        value=(
            rf"{LEFT}(?:\$2[abxy]?\$[0-9]{{2}}\${_CRYPT}{{20,}}"
            rf"|\$(?:[1356]|apr1|sha1|sm3)\$(?:rounds=[0-9]{{1,9}}\$)?{_SALT}\${_CRYPT}{{16,}}"
            rf"|\$md5[,$]rounds=[0-9]{{1,9}}\${_SALT}\${{1,2}}{_CRYPT}{{16,}}"
            r"|\$argon2(?:id|i|d)\$(?:v=[0-9]{1,3}\$)?[mtp]=[0-9mtp=,]{3,32}\$"
            r"[A-Za-z0-9+/_-]{4,64}\$[A-Za-z0-9+/_-]{16,}"
            rf"|\$(?:g?y|7|scrypt)\${_CRYPT}{{1,16}}\${_CRYPT}{{1,64}}\${_CRYPT}{{16,}}"
            rf"|\$[PHS]\${_CRYPT}{{28,}})"
        ),
        anchors=tuple(
            f"${kind}"
            for kind in ("2", "1", "3", "5", "6", "apr1", "sha1", "md5", "sm3", "argon2", *"gy7PHS", "scrypt")
        ),
        description="Hashes of passwords as in /etc/shadow, .htpasswd and the tables of web applications",
        source="crypt(5); Apache's password formats; the PHC string format; phpass",
        examples=(
            "root:$6$salt0123$" + "Canary12" * 10 + ":19000:0:99999:7:::",
            "bob:$2y$05$" + "Canary12" * 6,
            "bob:$apr1$salt0123$" + "Canary12" * 2 + "abcdef",
            "$argon2id$v=19$m=65536,t=3,p=4$c29tZXNhbHQ$" + "Canary12" * 5,
            "root:$y$j9T$salt0123$" + "Canary12" * 5,
            "$P$B" + "Canary12" * 4,
        ),
        near_misses=(
            "it costs $5$ or $6$ or more",
            "replace('$1$2$3')",
            "$2b$ is how it begins",
            "$1$salt$hash",
            "${2b}$05$",
        ),
    ),
    Rule(
        "password-hash-named",
        context=(
            r"\{(?:SSHA|SHA|SMD5|MD5|SSHA256|SSHA384|SSHA512|SHA256|SHA512|PBKDF2-SHA256|PBKDF2-SHA512)\}"
            r"|pbkdf2_sha(?:1|256|512)\$[0-9]{1,8}\$[A-Za-z0-9]{1,64}\$"
            r"|(?:pbkdf2:sha(?:1|256|512):[0-9]{1,8}|scrypt:[0-9]{1,8}:[0-9]{1,3}:[0-9]{1,3})\$[A-Za-z0-9]{1,64}\$"
            r"|aad3b435b51404eeaad3b435b51404ee:"
            # Dollars are doubled where a file of Docker Compose would take them for variables.
            rf"|\$\$2[aby]\$\$[0-9]{{2}}\$\$|\$\$apr1\$\${_SALT}\$\$"
        ),
        value=r"[A-Za-z0-9+/$.]{20,}={0,2}",
        anchors=(
            "SHA",
            "MD5}",
            "pbkdf2",
            "scrypt:",
            "$$2",
            "$$apr1",
            "aad3b435b51404eeaad3b435b51404ee",
        ),
        description="Hashes of passwords after the name of their scheme",
        source="RFC 2307 (LDAP); Django's and Werkzeug's password storage; dumps of NTLM hashes",
        examples=(
            "traefik=bob:$$2y$$05$$" + "Canary12" * 6,
            "userPassword: {SSHA}" + "Canary12" * 4,
            "pbkdf2_sha256$260000$salt0123$" + "Canary12" * 5 + "abc=",
            "scrypt:32768:8:1$salt0123$" + "ca0123canary4567" * 8,
            "bob:1001:aad3b435b51404eeaad3b435b51404ee:ca0123canary4567" + "ca0123canary4567:::",
        ),
        near_misses=("{SSHA} and {SHA}", "pbkdf2_sha256$260000$", "{SSHA}<hash>"),
    ),
)
