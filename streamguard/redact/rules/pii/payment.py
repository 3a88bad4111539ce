"""Payment cards and bank accounts. Their checksums are calculated here; no extra is needed."""

from __future__ import annotations

from streamguard.redact.rule import Rule
from streamguard.redact.rules.pii import checks
from streamguard.redact.rules.pii.edges import NUMBER, WORD

__all__ = ["PII_PAYMENT"]

# The registry of ISO 13616: the length of an account's number in each country. With the
# length in the pattern, words behind the number are not taken for a part of it.
_LENGTHS = {
    15: "NO",
    16: "BE",
    18: "DK FI FK FO GL NL SD",
    19: "MK SI",
    20: "AT BA EE KZ LT LU MN XK",
    21: "CH HR LI LV",
    22: "BG BH CR DE GB GE IE ME RS VA",
    23: "AE GI IL IQ OM SO TL",
    24: "AD CZ ES MD PK RO SA SE SK TN VG",
    25: "LY PT ST",
    26: "IS TR",
    27: "BI DJ FR GR IT MC MR SM",
    28: "AL AZ BY CY DO GT HN HU LB NI PL SV",
    29: "BR EG PS QA UA",
    30: "JO KW MU YE",
    31: "MT SC",
    32: "LC",
    33: "RU",
}


def _account(length: int, countries: str) -> str:
    groups, rest = divmod(length - 4, 4)
    last = rf"(?:[ \u00a0-]?[A-Z0-9]{{{rest}}})" if rest else ""
    return rf"(?:{countries.replace(' ', '|')})[0-9]{{2}}(?:[ \u00a0-]?[A-Z0-9]{{4}}){{{groups}}}{last}"


_D4 = "[0-9]{4}"

PII_PAYMENT = (
    # The longer form stands apart: where three digits behind a number of sixteen do not
    # belong to it (a security code), the shorter one is still found.
    Rule(
        "payment-card-long",
        value=(
            rf"{NUMBER}[2-6][0-9]{{3}}(?:(?:[ ]{_D4}){{3}}[ ][0-9]{{3}}|(?:-{_D4}){{3}}-[0-9]{{3}}"
            rf"|[0-9]{{4}}[ ][0-9]{{11,13}})(?![A-Za-z0-9_])"
        ),
        checks=(checks.card,),
        hashed=False,
        description="Numbers of payment cards with more than sixteen digits, in groups",
        source="ISO/IEC 7812",
        examples=("card 6304 0000 1234 5678 127 12/27", "6200-1234-5678-9012-347"),
        near_misses=("4111 1111 1111 1112 123",),
    ),
    Rule(
        "payment-card",
        value=(
            rf"{NUMBER}(?:[1-689][0-9]{{12,18}}"
            rf"|[2-689][0-9]{{3}}(?:(?:[ ]{_D4}){{3}}|(?:-{_D4}){{3}}|(?:\.{_D4}){{3}}|(?:\u00a0{_D4}){{3}})"
            rf"|3[0-9]{{3}}(?:[ ][0-9]{{6}}[ ][0-9]{{4,5}}|-[0-9]{{6}}-[0-9]{{4,5}}))(?![A-Za-z0-9_])"
        ),
        checks=(checks.card,),
        hashed=False,
        description="Numbers of payment cards of all networks",
        source="ISO/IEC 7812: ranges of the networks, Luhn's check digit",
        examples=(
            "Card: 4532015112830366",
            "5425 2334 3010 9903 12/27 123",
            "4532-0151-1283-0366",
            "amex 3782 822463 10005",
            "a\\n4532015112830366",
        ),
        near_misses=(
            "1234567890123456",
            "4111 1111 1111 1112",
            "0.4532015112830366",
            "4532015112830366abc",
            "0000000000000000",
            "1748503543012",
        ),
    ),
    Rule(
        "iban",
        value=rf"{WORD}(?:{'|'.join(_account(*entry) for entry in _LENGTHS.items())})(?![A-Za-z0-9_])",
        checks=(checks.iban,),
        hashed=False,
        description="International bank account numbers",
        source="ISO 13616: lengths of the registry, check digits modulo 97",
        examples=(
            "DE44500105175407324931",
            "IBAN: DE44 5001 0517 5407 3249 31 INGDDEFF",
            "BE68 5390 0754 7034 BANK",
            "GB29-NWBK-6016-1331-9268-19",
        ),
        near_misses=("DE45500105175407324931", "DE4450010517540732493", "ZZ44500105175407324931", "DE44"),
    ),
    Rule(
        "iban-announced",
        # In lower case only after its name: a digest in hexadecimal begins like many of them.
        context=r"""\b(?:IBAN|[iI]ban)["']?[ ]?[:=#]?[ ]?["']?""",
        value="|".join(_account(*entry).lower() for entry in _LENGTHS.items()).join(
            (r"(?:", r")(?![A-Za-z0-9_])")
        ),
        anchors=("IBAN", "iban", "Iban"),
        checks=(checks.iban,),
        hashed=False,
        description="International bank account numbers in lower case, after their name",
        source="ISO 13616: lengths of the registry, check digits modulo 97",
        examples=(
            "IBAN: de44500105175407324931",
            "iban=be68 5390 0754 7034",
            '"iban": "de44500105175407324931"',
        ),
        near_misses=("IBAN: de45500105175407324931", "sha1 de44500105175407324931", "iban: description"),
    ),
)
