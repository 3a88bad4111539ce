"""Checksums that some vendors build into their tokens.

They are advisory. A right one settles that a value is a token, whatever else speaks against
it: by chance it is right once in four billion. A wrong one settles nothing, since models
invent, mistype and cut off tokens, and the rest of such a token may be right.

GitHub's and npm's is `streamguard.redact.checks.checksummed`.
"""

from __future__ import annotations

import re
import zlib

__all__ = ["atlassian", "confirmed", "gitlab_routable"]

_ATLASSIAN = re.compile(r"(AT(?:[ACS]TT3|BB)[A-Za-z0-9_=-]{16,})([0-9A-F]{8})")
_GITLAB = re.compile(r"(gl[a-z]+-[A-Za-z0-9_-]{20,}(?:\.[0-9a-z]{2})?\.[0-9a-z]{2})([0-9a-z]{7})")


def atlassian(value: str) -> bool:
    """Whether it is a token of Atlassian whose checksum is right.

    The last eight characters are the CRC-32 of everything before, in upper-case hexadecimal.
    """
    found = _ATLASSIAN.fullmatch(value)
    return found is not None and int(found[2], 16) == zlib.crc32(found[1].encode())


def gitlab_routable(value: str) -> bool:
    """Whether it is a routable token of GitLab whose checksum is right.

    After the payload come a version, in newer ones, and the payload's length, each of two
    characters after a dot. The last seven are the CRC-32 of everything before, in base 36.
    """
    found = _GITLAB.fullmatch(value)
    return found is not None and int(found[2], 36) == zlib.crc32(found[1].encode())


def confirmed(value: str) -> bool:
    """Whether it carries the right checksum of one of these vendors."""
    return atlassian(value) or gitlab_routable(value)
