"""Checks of personal data: checksums, lengths, registers.

What a few lines can say is said here. The numbers of states and of telephone companies are
looked up in `python-stdnum` and `phonenumbers`, which are imported when a candidate turns
up for the first time.
"""

from __future__ import annotations

import hashlib
import ipaddress
import re
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from importlib import import_module
from itertools import cycle
from typing import Any

from streamguard.redact.checks import uri_password

__all__ = [
    "REGIONS",
    "base58_address",
    "bech32_address",
    "card",
    "credentials",
    "email",
    "german_health_insurance",
    "german_pension_insurance",
    "hong_kong_id",
    "iban",
    "international_phone",
    "ip_address",
    "mac_address",
    "medicare_id",
    "national_insurance",
    "national_phone",
    "provider",
    "registered",
    "singapore_id",
    "snils",
    "taiwan_id",
    "trunk_phone",
    "us_phone",
]


@lru_cache(maxsize=128)
def _extra(module: str) -> Any:
    try:
        return import_module(module)
    except ImportError as missing:
        raise ImportError(
            "the rules of phone numbers and national ids need an extra: pip install 'streamguard-llm[pii]'",
            name=missing.name,
        ) from None


# -- contact -----------------------------------------------------------------------

_FILES = """
    avif bmp css gif html ico jpeg jpg js json jsx lock mjs pdf png service slice socket svg target
    timer toml ts tsx txt wasm webp xml yaml yml
"""
_NOT_A_DOMAIN = frozenset(_FILES.split())
_NOT_A_PERSON = frozenset({"git", "hg", "svn"})


def email(value: str) -> bool:
    """An address within the lengths of RFC 5321, at a domain.

    `git@host:path` is where a repository is, `logo@2x.png` a file, `name@1.2.beta` a version.
    """
    local, _, domain = value.replace("%40", "@").rpartition("@")
    labels = domain.split(".")
    return (
        len(local) <= 64
        and len(domain) <= 255
        and ".." not in local
        and not local.endswith(".")
        and local not in _NOT_A_PERSON
        and all(0 < len(label) <= 63 and label[0] != "-" and label[-1] != "-" for label in labels)
        and labels[-1].lower() not in _NOT_A_DOMAIN
        and not all(map(str.isdigit, labels[:-1]))
    )


_REGIONS = """
    US GB DE FR IT ES NL BE CH AT PL SE NO DK FI PT IE GR CZ HU RO BG UA RU TR IL IN PK CN JP KR SG HK
    TW TH VN ID MY PH AU NZ BR MX AR CL CO PE ZA NG KE EG SA AE
"""
REGIONS = tuple(_REGIONS.split())
"""Where a number without a country code is looked up, if a word says that it is a phone number."""

_TRUNK = "GB DE FR IT NL BE CH AT SE FI IE UA TR IL IN CN JP KR TW TH VN ID MY PH AU NZ BR ZA NG"
_TRUNK_REGIONS = tuple(_TRUNK.split())
"""Where numbers are dialled with a leading zero, or, in Italy, have one."""

_NO_PHONE = re.compile(r"\d{3}-\d\d-\d{4}|\d{1,2}[ ./-]{1,3}\d{1,2}[ ./-]{1,3}(?:19|20)\d\d(?:[ -]\d+)*")


def _valid_phone(number: str, region: str | None) -> bool:
    phonenumbers = _extra("phonenumbers")
    try:
        return bool(phonenumbers.is_valid_number(phonenumbers.parse(number, region)))
    except phonenumbers.NumberParseException:
        return False


def _beginnings(value: str) -> Iterator[str]:
    """The value, and what is left of it without its last groups: another number may follow it."""
    yield value
    for cut in reversed([found.start() for found in re.finditer(r"[ .()/-]+", value)]):
        if sum(map(str.isdigit, value[:cut])) >= 7:
            yield value[:cut]


def international_phone(value: str) -> bool:
    """A number that is given out in the country its code names."""
    number = "+" + re.sub(r"^(?:\+|%2B|00)", "", value)
    return any(_valid_phone(beginning, None) for beginning in _beginnings(number))


def us_phone(value: str) -> bool:
    """A number of the North American plan, with an area code and an exchange in use."""
    return _valid_phone(value, "US")


def national_phone(value: str) -> bool:
    """A number of one of `REGIONS`."""
    if value.startswith(("+", "00")):
        return international_phone(value)
    return any(_valid_phone(number, region) for number in _beginnings(value) for region in REGIONS)


def trunk_phone(value: str) -> bool:
    """A number in groups after a leading zero, of a country where they are dialled so, or an eight in Russia.

    Numbers that are counted, `01 02 03 04 05`, are none.
    """
    if _NO_PHONE.fullmatch(value) or not 9 <= sum(map(str.isdigit, value)) <= 12:
        return False
    groups = [int(group) for group in re.findall(r"\d+", value)]
    if len(groups) > 3 and groups == list(range(groups[0], groups[0] + len(groups))):
        return False
    if value.startswith("8"):
        return _valid_phone(value, "RU")
    return any(_valid_phone(value, region) for region in _TRUNK_REGIONS)


# -- network -----------------------------------------------------------------------


def ip_address(value: str) -> bool:
    """An address of a machine, of whatever range: it is for the reader that they differ.

    Not the unspecified and the loopback address, which name no machine in particular, nor a
    mask, nor the shortest of IPv6, nor one with three zeros at its end: a network, or the
    version of a browser, `Chrome/120.0.0.0`.
    """
    try:
        address = ipaddress.ip_address(value.partition("%")[0])
    except ValueError:
        return False
    if address.is_unspecified or address.is_loopback or value.startswith("255.") or value.endswith(".0.0.0"):
        return False
    # `x[::2]`, `abc::Def` and `10::20` are programs.
    groups = [group for group in value.partition("%")[0].split(":") if group]
    return address.version == 4 or len(groups) > 2 or bool(re.match(r"(?=.*\d)[0-9a-fA-F]{4}:|.*\.", value))


def mac_address(value: str) -> bool:
    """An address of one device: neither none nor all of them, and no fingerprint."""
    plain = re.sub(r"[:.-]", "", value)
    return len(plain) == 12 and len(set(plain)) > 1


def credentials(value: str) -> bool:
    """A user's name and password before the @ of a URL: no port, no template."""
    return uri_password(value.partition(":")[2])


# -- payment -----------------------------------------------------------------------

_NETWORKS = re.compile(
    r"4(?:\d{12}|\d{15}|\d{18})"  # Visa
    r"|(?:5[1-5]\d\d|222[1-9]|22[3-9]\d|2[3-6]\d\d|27[01]\d|2720)\d{12}"  # Mastercard
    r"|3[47]\d{13}"  # American Express
    r"|3(?:0[0-5]|095|[689]\d)\d{11,16}"  # Diners Club
    r"|35(?:2[89]|[3-8]\d)\d{12,15}"  # JCB
    r"|(?:6011|64[4-9]\d|65\d\d)\d{12,15}"  # Discover
    r"|(?:62\d\d|81[0-7]\d)\d{12,15}"  # UnionPay
    r"|(?:50\d\d|5[6-8]\d\d|6[0-9]\d\d)\d{8,15}"  # Maestro, RuPay, Elo, Verve, Interpayment
    r"|220[0-4]\d{12,15}"  # Mir
    r"|9792\d{12}"  # Troy
    r"|1\d{14}"  # UATP
)


def luhn(number: str) -> bool:
    """Whether the last digit is the check digit of ISO/IEC 7812."""
    doubled = "0246813579"
    return sum(int(doubled[int(d)] if i % 2 else d) for i, d in enumerate(reversed(number))) % 10 == 0


def card(value: str) -> bool:
    """A number of a card network, with the right check digit."""
    number = re.sub(r"\D", "", value)
    return bool(_NETWORKS.fullmatch(number)) and luhn(number)


def iban(value: str) -> bool:
    """Whether the check digits of ISO 13616 are right; the pattern knows the lengths."""
    number = re.sub(r"[ \u00a0-]", "", value)
    return int("".join(str(int(char, 36)) for char in number[4:] + number[:4])) % 97 == 1


# -- crypto ------------------------------------------------------------------------

_BASE58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
_BECH32 = "qpzry9x8gf2tvdw0s3jn54khce6mua7l"
_BECH32_STEPS = (0x3B6A57B2, 0x26508E6D, 0x1EA119FA, 0x3D4233DD, 0x2A1462B3)


def base58_address(value: str) -> bool:
    """Whether Base58Check is right: twenty bytes, one or two of a version, four of a checksum."""
    number = 0
    for char in value:
        number = number * 58 + _BASE58.index(char)
    zeros = len(value) - len(value.lstrip("1"))
    data = bytes(zeros) + number.to_bytes((number.bit_length() + 7) // 8, "big")
    check = hashlib.sha256(hashlib.sha256(data[:-4]).digest()).digest()[:4]
    return len(data) in {25, 26} and data[-4:] == check


def bech32_address(value: str) -> bool:
    """Whether the checksum of BIP 173 or of BIP 350 is right."""
    human, _, data = value.lower().rpartition("1")
    if value not in {value.lower(), value.upper()} or not set(data) <= set(_BECH32):
        return False
    codes = [ord(char) for char in human]
    state = 1
    for code in [*(c >> 5 for c in codes), 0, *(c & 31 for c in codes), *map(_BECH32.index, data)]:
        top = state >> 25
        state = (state & 0x1FFFFFF) << 5 ^ code
        for bit, step in enumerate(_BECH32_STEPS):
            state ^= step if top >> bit & 1 else 0
    return state in {1, 0x2BC830A3}


# -- identity ----------------------------------------------------------------------


@lru_cache(maxsize=128)
def registered(*modules: str) -> Callable[[str], bool]:
    """Make the check that one of these modules of `stdnum` knows a number: `gb.nhs`."""

    def check(value: str) -> bool:
        # Some tell centuries apart by the separator; the rest is to go without any.
        plain = re.sub(r"[\s./-]", "", value)
        return len(set(plain)) > 1 and any(
            module.is_valid(value) or module.is_valid(plain)
            for module in (_extra(f"stdnum.{name}") for name in modules)
        )

    return check


def snils(value: str) -> bool:
    """Whether the check number of a Russian insurance number is right."""
    number = re.sub(r"\D", "", value)
    total = sum(int(digit) * weight for digit, weight in zip(number[:9], range(9, 0, -1), strict=True))
    return len(set(number)) > 2 and total % 101 % 100 == int(number[9:])


def national_insurance(value: str) -> bool:
    """Whether the prefix of a British National Insurance number is given out."""
    return value[:2].upper() not in {"BG", "GB", "KN", "NK", "NT", "TN", "ZZ"}


def _german(digits: str, weights: Iterable[int]) -> int:
    products = [int(digit) * weight for digit, weight in zip(digits, weights, strict=False)]
    return sum(product // 10 + product % 10 for product in products) % 10


def german_pension_insurance(value: str) -> bool:
    """Whether the check digit of a German pension insurance number is right."""
    plain = value.replace(" ", "")
    digits = f"{plain[:8]}{ord(plain[8]) - 64:02}{plain[9:11]}"
    return _german(digits, (2, 1, 2, 5, 7, 1, 2, 1, 2, 1, 2, 1)) == int(plain[11])


def german_health_insurance(value: str) -> bool:
    """Whether the check digit of a German health insurance number is right."""
    return _german(f"{ord(value[0]) - 64:02}{value[1:9]}", cycle((1, 2))) == int(value[9])


def singapore_id(value: str) -> bool:
    """Whether the letter at the end of a Singaporean NRIC or FIN is right."""
    kind, number, letter = value[0].upper(), value[1:8], value[8].upper()
    total = sum(int(digit) * weight for digit, weight in zip(number, (2, 7, 6, 5, 4, 3, 2), strict=True))
    total += {"S": 0, "F": 0, "T": 4, "G": 4, "M": 3}[kind]
    if kind == "M":
        return "KLJNPQRTUWX"[10 - total % 11] == letter
    return ("JZIHGFEDCBA" if kind in "ST" else "XWUTRQPNMLK")[total % 11] == letter


def taiwan_id(value: str) -> bool:
    """Whether the check digit of a Taiwanese identity number is right."""
    place = "ABCDEFGHJKLMNPQRSTUVXYWZIO".index(value[0]) + 10
    total = place // 10 + place % 10 * 9
    total += sum(int(d) * w for d, w in zip(value[1:], (8, 7, 6, 5, 4, 3, 2, 1, 1), strict=True))
    return len(set(value[2:])) > 2 and total % 10 == 0


def hong_kong_id(value: str) -> bool:
    """Whether the check digit in the brackets of a Hong Kong identity card number is right."""
    plain = re.sub(r"[()]", "", value).rjust(9)
    codes = [36 if char == " " else int(char, 36) for char in plain]
    return sum(code * weight for code, weight in zip(codes, range(9, 0, -1), strict=True)) % 11 == 0


def provider(value: str) -> bool:
    """Whether the check digit of an American provider number is right; 80840 goes before it."""
    return luhn("80840" + re.sub(r"\D", "", value))


def medicare_id(value: str) -> bool:
    """Whether letters and digits of an American Medicare number are where they belong."""
    plain = value.replace("-", "").upper()
    letter = "[AC-HJKMNP-RT-Y]"
    either = "[AC-HJKMNP-RT-Y0-9]"
    return bool(
        re.fullmatch(rf"[1-9]{letter}{either}[0-9]{letter}{either}[0-9]{letter}{letter}[0-9]{{2}}", plain)
    )
