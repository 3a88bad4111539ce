r"""Private keys in text armour.

A block is certain once sixteen characters of its body have been seen, or a header line of
an encrypted or PGP key, and is swallowed from then on: to its END line, or, where that is
missing (a model stops in the middle of a key), as far as it looks like the body of one.
Line breaks may be real, escaped once or more (a key inside JSON, inside JSON), white space
(a key on one line), or those of string literals joined in source code; diffs, quotations
and listings put marks or numbers before each line. So anything but letters may stand between
two lines, which prose does not fit.
"""

from __future__ import annotations

import base64

from streamguard.redact.checks import base64_key
from streamguard.redact.rule import Rule
from streamguard.redact.rules.boundary import LEFT, UNMASKED

__all__ = ["PRIVATE_KEYS"]

# `[^\S\r\n]`, not a blank, keeps the prefilter on the dashes the match begins with.
_NAME = (
    r"(?:(?:[A-Z0-9]{2,12} ){0,3}PRIVATE[^\S\r\n]KEY(?: BLOCK)?"
    r"|OpenVPN[^\S\r\n](?:Static key V[0-9]|tls-crypt-v2 (?:client|server) key))"
)
_BEGIN = rf"(?:-----BEGIN {_NAME}-----|---- BEGIN {_NAME} ----)"
_END = rf"(?:-----END {_NAME}-----|---- END {_NAME} ----)"
_BASE64 = r"[A-Za-z0-9+/=]"
_HEADER = r"[A-Z][A-Za-z-]{2,15}: "
_FILL = r"[^A-Za-z\r\n\\]"
_BREAK = r"(?:[\r\n\\]|(?<=\\)[nrt]|<br ?/?>)"
_BETWEEN = rf"(?:{_FILL}|{_BREAK})"
# A short run of base64 counts only as a line of its own: prose may follow a truncated key.
_LINE = rf"""{_FILL}*{_BREAK}{_BETWEEN}*{_BASE64}+(?=[\r\n\\"'`,-]|\Z)"""
_RUN = rf"{_BETWEEN}*{_BASE64}{{24,}}"
_HEADERS = rf"{_HEADER}[^\r\n\\]*(?:{_BETWEEN}*{_HEADER}[^\r\n\\]*)*"
_LAST = rf"(?:{_BETWEEN}*{_BASE64}+)?{_BETWEEN}*{_END}"

_URL_BLANK = r"(?:\+|%20)"
_URL_NAME = rf"(?:[A-Z0-9]{{2,12}}{_URL_BLANK}){{0,3}}PRIVATE[^\w\s](?:20)?KEY(?:{_URL_BLANK}BLOCK)?"
_URL_SAFE = r"[A-Za-z0-9+/=%_.~-]"

_MARK = r"""\\{0,3}["']"""
_COLON = r"[ \t]{0,4}:[ \t]{0,4}"

_BODY = "\n".join(["Canary12" * 8] * 2)


def _key(name: str, body: str = _BODY, line: str = "\n") -> str:
    begin, end = (f"-----{word} {name}-----" for word in ("BEGIN", "END"))
    return line.join([begin, *body.split("\n"), end])


def _encoded(name: str) -> str:
    return base64.b64encode(f"-----BEGIN {name}-----\n".encode()).decode().rstrip("=") + "Canary12" * 20


def _folded(text: str) -> str:
    return "\n".join(text[at : at + 76] for at in range(0, len(text), 76))


PRIVATE_KEYS = (
    Rule(
        "private-key",
        # The boundary keeps a placeholder that was written behind a secret from protecting it.
        value=(
            rf"{LEFT}{_BEGIN}{_BETWEEN}{{0,40}}(?:{_BASE64}{{16,}}|{_HEADERS})(?:{_LINE}|{_RUN})*(?:{_LAST})?"
        ),
        anchors=("-----BEGIN ", "---- BEGIN "),
        description="Private keys in PEM, OpenSSH, PGP or SSH2 armour, truncated ones included",
        source="RFC 7468 and 4716 (armour), RFC 9580 (PGP private key blocks), OpenVPN's static keys",
        examples=(
            _key("RSA PRIVATE KEY"),
            "key: " + _key("PRIVATE KEY") + "\nnext: 1",
            _key("PRIVATE KEY", body=_BODY + "\nCanary=="),
            '{"private_key": "' + _key("PRIVATE KEY", line=r"\n") + r'\n"}',
            r"{\"key\": \"" + _key("EC PRIVATE KEY", line=r"\\n") + r"\"}",
            _key("OPENSSH PRIVATE KEY", line="\n    "),
            _key("OPENSSH PRIVATE KEY", line=" "),
            _key("PRIVATE KEY", line=""),
            _key("RSA PRIVATE KEY", line='\\n" +\n    "'),
            _key("RSA PRIVATE KEY", line="\n-"),
            _key("RSA PRIVATE KEY", line="\n  12\t"),
            _key("RSA PRIVATE KEY", line="<br/>"),
            _key("RSA PRIVATE KEY").rpartition("\n")[0],
            _key("RSA PRIVATE KEY").rpartition("\n")[0] + "\n\nThat was the key.",
            _key("RSA PRIVATE KEY", body="Proc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,0\n\n" + _BODY),
            _key("PGP PRIVATE KEY BLOCK", body="Version: 2\n\n" + _BODY + "\n=Canary"),
            _key("ENCRYPTED PRIVATE KEY", body="Canary123" * 3),
            _key("ENCRYPTED COSIGN PRIVATE KEY", line="\n> "),
            "> " + _key("DSA PRIVATE KEY", body="Proc-Type: 4,ENCRYPTED\n>\n> " + _BODY, line="\n> "),
            _key("SSH2 ENCRYPTED PRIVATE KEY", body='Comment: "mine"\n' + _BODY)
            .replace("-----", " ---- ")
            .strip(),
            _key("OpenVPN Static key V1", body="ca0123canaryca01" * 2),
            r"x\n" + _key("PRIVATE KEY", line=r"\r\n"),
        ),
        near_misses=(
            _key("CERTIFICATE"),
            _key("PUBLIC KEY"),
            _key("PRIVATE KEY", body="..."),
            "It begins with -----BEGIN PRIVATE KEY----- and ends with -----END PRIVATE KEY-----.",
            "-----BEGIN PRIVATE KEY-----\n<your key>\n-----END PRIVATE KEY-----",
            "-" * 80,
        ),
    ),
    Rule(
        "private-key-url",
        context=rf"-----BEGIN{_URL_BLANK}{_URL_NAME}-----",
        value=rf"{_URL_SAFE}{{24,}}",
        anchors=("-----BEGIN+", "-----BEGIN%20"),
        description="Private keys in PEM armour, escaped for an address or a form",
        source="RFC 7468 in the percent-encoding of RFC 3986 and of HTML forms",
        examples=(
            "key=" + _key("RSA PRIVATE KEY", line="%0A").replace(" ", "+") + "&next=1",
            "?key=" + _key("PRIVATE KEY", line="%0D%0A").replace(" ", "%20"),
        ),
        near_misses=(
            "key=" + _key("CERTIFICATE", line="%0A").replace(" ", "+") + "&next=1",
            "?q=-----BEGIN+PRIVATE+KEY-----&page=2",
        ),
    ),
    Rule(
        "private-key-base64",
        value=(
            rf"{LEFT}LS0tLS1CRUdJTi[A-Za-z0-9+/]{{0,20}}"
            # PRIVATE KEY, beginning at the first, second and third of three bytes.
            rf"(?:UFJJVkFURSBLRVkt|BSSVZBVEUgS0VZ|QUklWQVRFIEtFW)"
            rf"[A-Za-z0-9+/_-]{{8,}}={{0,2}}(?:{_LINE}|{_RUN})*"
        ),
        anchors=("LS0tLS1CRUdJTi",),
        description="Private keys in PEM armour, in base64 as a whole",
        source="RFC 4648 of RFC 7468: secrets of Kubernetes, variables of build services",
        examples=(
            "tls.key: " + _encoded("RSA PRIVATE KEY"),
            '"key": "' + _encoded("OPENSSH PRIVATE KEY") + '"',
            _encoded("PRIVATE KEY"),
            _folded(_encoded("EC PRIVATE KEY")),
        ),
        near_misses=(
            "tls.crt: " + _encoded("CERTIFICATE"),
            "tls.pub: " + _encoded("PUBLIC KEY"),
            "LS0tLS1CRUdJTi is how it begins",
        ),
    ),
    Rule(
        "private-key-der",
        value=(
            rf"{LEFT}(?:MII[A-Za-z0-9+/]{{3}}IBADANBgkqhkiG9w0BAQEFAASC"
            r"|MII[A-Za-z0-9+/]{3}IBAAKC(?:AQEA|AgEA|AYEA)"
            r"|MI[A-Z][A-Za-z0-9]AgEAMB[AM]GByqGSM49AgEG|MC4CAQAwBQYDK2V"
            r"|b3BlbnNzaC1rZXktdjE)"
            rf"[A-Za-z0-9+/]{{12,}}={{0,2}}(?:{_LINE}|{_RUN})*"
        ),
        anchors=(
            "IBADANBgkqhkiG9w0BAQEFAASC",
            "IBAAKCAQEA",
            "IBAAKCAgEA",
            "IBAAKCAYEA",
            "AgEAMBMGByqGSM49AgEG",
            "AgEAMBAGByqGSM49AgEG",
            "MC4CAQAwBQYDK2V",
            "b3BlbnNzaC1rZXktdjE",
        ),
        description="Private keys of RSA, EC, Ed25519 and OpenSSH in base64 without their armour",
        source="RFC 8017, 5958, 5915 and 8410 in DER; OpenSSH's PROTOCOL.key",
        examples=(
            "private.pem=MIIEvQ" + "IBADANBgkqhkiG9w0BAQEFAASC" + _BODY,
            '"MIIEpA' + "IBAAKCAQEA" + "Canary12" * 20 + '"',
            "MIGH" + "AgEAMBMGByqGSM49AgEG" + "CCqGSM49AwEH" + "Canary12" * 4 + "==",
            "MC4CAQAwBQYDK2V" + "wBCIEI" + "Canary12" * 5,
            "b3BlbnNzaC1rZXktdjE" + "AAAAABG5vbmU" + "Canary12" * 8 + "\n" + "Canary12" * 8,
        ),
        near_misses=(
            "MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8A" + "abcdefgh" * 8,
            "MIIEvQIBADANBgkqhkiG9w0BAQEFAASC...",
            "MIIBCgKCAQEA" + "abcdefgh" * 8,
        ),
    ),
    Rule(
        "putty-private-key",
        context=rf"Private-Lines:[ ]?[0-9]{{1,3}}{_BREAK}{{1,8}}{_FILL}{{0,8}}",
        value=rf"{_BASE64}{{16,}}(?:{_BREAK}{{1,8}}{_FILL}{{0,8}}{_BASE64}+(?=[\r\n\\\"'`]|\Z))*",
        anchors=("Private-Lines:",),
        description="The private part of a key file of PuTTY",
        source="PuTTY's manual, appendix on the format of PPK files, versions 2 and 3",
        examples=(
            "PuTTY-User-Key-File-3: ssh-ed25519\nPrivate-Lines: 1\nCanary"
            + "ab12" * 8
            + "\nPrivate-MAC: 0123",
            "Private-Lines: 2\r\n" + "\r\n".join(["Canary12" * 8, "Canary=="]) + "\r\nPrivate-MAC: 0123",
            r"Private-Lines: 2\n" + r"\n".join(["Canary12" * 8, "Canary=="]) + r"\nPrivate-MAC: 0123",
        ),
        near_misses=(
            "Public-Lines: 2\n" + "abcdefgh" * 8 + "\nPrivate-Lines: 1\n",
            "Private-Lines: 14, the number of lines that follow",
        ),
    ),
    Rule(
        "age",
        value=rf"{LEFT}AGE-SECRET-KEY-(?:PQ-)?1{UNMASKED}[AC-HJ-NP-Z02-9]{{28,}}",
        anchors=("AGE-SECRET-KEY-",),
        description="Secret keys of age",
        source="age's specification: Bech32 in upper case",
        examples=("AGE-SECRET-KEY-1" + "CANARY0234" * 5, "x=AGE-SECRET-KEY-PQ-1" + "CANARY0234" * 5),
        near_misses=("AGE-SECRET-KEY-1...", "AGE-SECRET-KEY-1" + "X" * 58, "AGE-SECRET-KEY-1abc"),
    ),
    Rule(
        "minisign",
        value=rf"{LEFT}RWRTY0Iy[A-Za-z0-9+/]{{40,}}={{0,2}}",
        anchors=("RWRTY0Iy",),
        description="Secret keys of minisign, encrypted or not",
        source="minisign's documentation: base64 that begins with the algorithms Ed, Sc and B2",
        examples=("RWRTY0Iy" + "Canary12" * 26, "key: RWRTY0Iy" + "Canary12" * 26 + "=="),
        near_misses=("RWRTY0Iy...", "RWQ" + "abcdefgh" * 7),
    ),
    Rule(
        "wireguard",
        context=r"(?:PrivateKey|PresharedKey|private_key|preshared_key)[\"']?[ \t]{0,4}[=:][ \t]{0,4}[\"']?",
        value=r"[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=(?![A-Za-z0-9+/=])",
        anchors=("PrivateKey", "PresharedKey", "private_key", "preshared_key"),
        description="Private and shared keys of WireGuard",
        source="wg(8): 32 bytes in base64",
        examples=(
            "PrivateKey = " + "Canary12" * 5 + "abA=",
            '"preshared_key": "' + "Canary12" * 5 + 'ab8="',
        ),
        near_misses=(
            "PublicKey = " + "abcdefg1" * 5 + "abA=",
            "PrivateKey = <key>",
            "private_key: " + "/path/to/" * 5,
        ),
    ),
    Rule(
        "jwk",
        # No bound: an object ends at its brace, and a public modulus may be long.
        context=rf"{_MARK}kty{_MARK}[^{{}}]*{_MARK}(?:d|p|q|dp|dq|qi|k|priv){_MARK}{_COLON}{_MARK}",
        value=r"[A-Za-z0-9_-]{20,}",
        anchors=('kty"', "kty'", "kty\\"),
        description="The private members of a JSON Web Key, where its type is written before them",
        source="RFC 7517, 7518 and 8037",
        examples=(
            '{"kty": "EC", "crv": "P-256", "x": "abc", "d": "' + "Canary12" * 6 + '"}',
            '{"kty":"oct","k":"' + "Canary12" * 4 + '","alg":"HS256"}',
            r"{\"kty\":\"OKP\",\"d\":\"" + "Canary-_" * 6 + r"\"}",
        ),
        near_misses=(
            '{"kty": "EC", "x": "' + "abcdefgh" * 6 + '", "kid": "1"}',
            '{"kty": "EC"}, {"p": "' + "abcdefgh" * 6 + '"}',
            '{"kty": "EC", "d": "..."}',
        ),
    ),
    Rule(
        "jwk-exponent",
        context=rf"{_MARK}d{_MARK}{_COLON}{_MARK}",
        value=r"[A-Za-z0-9_-]{43,}(?=[\"'\\])",
        anchors=('d"', "d'", "d\\"),
        checks=(base64_key,),
        description="The private member of a JSON Web Key, whatever is written before it",
        source="RFC 7518, sections 6.2.2 and 6.3.2",
        examples=(
            '{"d": "' + "Canary1-zXq9_" * 7 + '", "kty": "RSA"}',
            '{"crv":"P-256","d":"' + "Canary12zXq7" * 3 + 'Wb3LmTe8HjKu9RsPv"}',
        ),
        near_misses=(
            '"d": "https-example-com-a-slug-of-many-words-and-more-words"',
            '"d": "' + "0123456789abcdef" * 4 + '"',
        ),
    ),
)
