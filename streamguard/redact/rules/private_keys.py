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

from streamguard.redact.rule import Rule

__all__ = ["PRIVATE_KEYS"]

# `[^\S\r\n]`, not a blank, keeps the prefilter on the dashes the match begins with.
_NAME = r"(?:[A-Z0-9]{2,12} ){0,3}PRIVATE[^\S\r\n]KEY(?: BLOCK)?"
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

_BODY = "\n".join(["Canary12" * 8] * 2)


def _key(name: str, body: str = _BODY, line: str = "\n") -> str:
    begin, end = (f"-----{word} {name}-----" for word in ("BEGIN", "END"))
    return line.join([begin, *body.split("\n"), end])


PRIVATE_KEYS = (
    Rule(
        "private-key",
        value=(rf"{_BEGIN}{_BETWEEN}{{0,40}}(?:{_BASE64}{{16,}}|{_HEADERS})(?:{_LINE}|{_RUN})*(?:{_LAST})?"),
        anchors=("-----BEGIN ", "---- BEGIN "),
        description="Private keys in PEM, OpenSSH, PGP or SSH2 armour, truncated ones included",
        source="RFC 7468 and 4716 (armour), RFC 9580 (PGP private key blocks)",
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
)
