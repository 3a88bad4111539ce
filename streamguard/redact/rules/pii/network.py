"""Addresses of machines, and of people at them.

Private and documentation ranges count: an address inside a company says more about it than
a public one, and a reader cannot tell an example from the real thing either.
"""

from __future__ import annotations

from streamguard.redact.rule import Rule
from streamguard.redact.rules.pii import checks
from streamguard.redact.rules.pii.edges import WORD

__all__ = ["PII_NETWORK"]

_BYTE = r"(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])"
_NO_VERSION = r"(?<![vV]ersion )(?<![vV]ersion:)(?<![=<>~!]=)(?<![0-9]\.)(?<![A-Za-z]-)"
_HEX = "[0-9A-Fa-f]"

_WEB = "".join(rf"(?<!{scheme})" for scheme in ("http", "https", "ws", "wss", "HTTP", "HTTPS"))
_SLASHES = r"(?://|\\/\\/)"
_USER = r"""[^\s/?#\[\]"'<>@:`|\\]{0,128}:"""

PII_NETWORK = (
    # These two end where the rules of passwords in addresses do. If they ended before, what is
    # left of a password would be shown.
    Rule(
        "database-credentials",
        context=rf"{_WEB}:{_SLASHES}",
        value=rf"""{_USER}[^\s"'<>`\\]+(?=@)""",
        anchors=("://", r":\/\/"),
        checks=(checks.credentials,),
        hashed=False,
        description="User and password in the address of a database, queue, mail or file server",
        source="RFC 3986, user information; a slash in a password has to be escaped, and often is not",
        examples=("postgres://bob:p/ss@db:5432/app", '"mongodb:\\/\\/bob:p@ssw0rd@db\\/app"'),
        near_misses=(
            "redis://localhost:6379/0 and x",
            "postgres://bob:${PASSWORD}@db/app",
            "ssh://git@host/x",
        ),
    ),
    Rule(
        "url-credentials",
        context=rf":{_SLASHES}",
        value=rf"""{_USER}[^\s/"'<>`\\]+(?=@)""",
        anchors=("://", r":\/\/"),
        checks=(checks.credentials,),
        hashed=False,
        description="User and password in a URL",
        source="RFC 3986, user information",
        examples=("https://bob:hunter22@example.com/x", "redis://:s3cret!@cache:6379/0", "ftp://b:p@ss@host"),
        near_misses=(
            "https://example.com:8080/a@b",
            "https://git@example.com/x",
            "https://{user}:{password}@example.com",
        ),
    ),
    Rule(
        "ipv4",
        # What goes on like a version is taken along, and refused by the check.
        value=(
            rf"{WORD}{_NO_VERSION}(?:{_BYTE}\.){{3}}{_BYTE}"
            r"(?:(?:\.[0-9]{1,9}){1,20}|[-+][A-Za-z][A-Za-z0-9]{0,9})?(?![A-Za-z0-9_])"
        ),
        checks=(checks.ip_address,),
        hashed=False,
        description="IPv4 addresses, of private and documentation ranges too",
        source="RFC 791; not loopback, 0.0.0.0 or netmasks, nor after `v` or `version`",
        examples=(
            "Connect to 10.0.0.1 or 8.8.8.8.",
            "http://192.168.1.1:8080/",
            "203.0.113.7/24",
            "10.0.0.1-10.0.0.20",
        ),
        near_misses=(
            "v1.2.3.4",
            "version 1.2.3.4",
            "x==1.2.3.4",
            "127.0.0.1",
            "0.0.0.0",  # noqa: S104 - an example
            "255.255.255.0",
            "300.168.1.1",
            "1.2.3.4-rc1",
            "OID 1.3.6.1.4.1.311",
            "lib-1.2.3.4.jar",
            "Chrome/120.0.0.0 Safari/537.36",
            "1.2.3",
        ),
    ),
    Rule(
        "ipv6",
        value=(
            rf"(?:(?<![A-Za-z0-9_:.\\%])|(?<=\\[nrt]))"
            # Two colons at least: what is shorter is a time or a pair, and what follows one tells.
            rf"(?:{_HEX}{{1,4}}::|{_HEX}{{1,4}}:{_HEX}{_HEX}{{0,3}}:|::)(?:{_HEX}{{0,4}}:){{0,6}}"
            rf"(?:{_HEX}{{1,4}}|(?:{_BYTE}\.){{3}}{_BYTE}|(?<=::))(?:%[A-Za-z0-9]{{1,15}})?(?![A-Za-z0-9_:])"
        ),
        checks=(checks.ip_address,),
        hashed=False,
        description="IPv6 addresses, of private and documentation ranges too",
        source="RFC 4291; not loopback or the unspecified address",
        examples=(
            "address 2001:db8:85a3::8a2e:370:7334,",
            "[fe80::1ff:fe23:4567:890a%eth0]:80",
            "::ffff:192.0.2.128",
            "2001:0db8:85a3:0000:0000:8a2e:0370:7334",
        ),
        near_misses=("::1", "std::vector", "12:34:56", "a::b::c", "x[::2]", "abc::Def"),
    ),
    Rule(
        "mac-address",
        # A fingerprint is taken along as a whole, and refused by the check.
        value=(
            rf"{WORD}(?<![0-9]{_HEX}[:-])(?<!{_HEX}[0-9][:-])(?:{_HEX}{{2}}(?::{_HEX}{{2}}){{5,39}}|{_HEX}{{2}}(?:-{_HEX}{{2}}){{5,39}}"
            rf"|{_HEX}{{4}}\.{_HEX}{{4}}\.{_HEX}{{4}})(?![A-Za-z0-9_:-])"
        ),
        checks=(checks.mac_address,),
        hashed=False,
        description="Hardware addresses of network devices",
        source="IEEE 802 (EUI-48), in the notations with colons, hyphens and dots",
        examples=("MAC: 00:1A:2B:3C:4D:5E", "MAC:AA-BB-CC-DD-EE-FF", "address is aabb.ccdd.eeff"),
        near_misses=(
            "00:00:00:00:00:00",
            "ff:ff:ff:ff:ff:ff",
            "00:1A:2B:3C",
            "10:2F:33-AC-29-C3",
            "c5:6e:dc:50:7f:3f:34:b8:29:cc",
            "00:11:22:33:44:55:66:77:88",
        ),
    ),
)
