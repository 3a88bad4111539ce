"""E-mail addresses and phone numbers.

A phone number without a country code belongs to a region, and the text does not say which.
It is looked up in a fixed tuple of them (`checks.REGIONS`) where a word says that it is one;
without a word only the forms of North America and of numbers in groups after a leading zero
are known.
"""

from __future__ import annotations

from streamguard.redact.rule import Rule
from streamguard.redact.rules.pii import checks
from streamguard.redact.rules.pii.edges import LETTERS, NUMBER, NUMBER_END, announced, words_of

__all__ = ["PII_CONTACT"]

_PHONE_WORDS = (
    "tel", "phone", "mobile", "cell", "fax", "whatsapp", "msisdn", "telefon", "telefono", "teléfono",
    "téléphone", "telefone", "telephone", "celular", "móvil", "mobil", "cellulare",
    "gsm", "тел", "телефон", "моб", "电话", "手机", "電話", "手機", "携帯", "전화",
    "휴대폰", "फ़ोन", "फोन", "هاتف", "טלפון", "τηλ", "τηλέφωνο", "telp", "telepono",
)  # fmt: skip

# The letter of an escape and the digits of `%3D` do not belong to the address behind them;
# the name behind `DOMAIN\` does.
_LOCAL = rf"{LETTERS}0-9_"
_BEFORE = (
    rf"(?:(?<![{_LOCAL}+%\\-])(?<!%[0-9A-Fa-f])|(?<=\\)(?![nrtbfux])|(?<=\\[ux])(?![0-9A-Fa-f])"
    r"|(?<=\\[nrtbf])|(?<=%[0-9A-Fa-f]{2})|(?<=\\x[0-9A-Fa-f]{2})|(?<=\\u[0-9A-Fa-f]{4}))"
)
_PHONE_END = "(?![A-Za-z0-9_])"

PII_CONTACT = (
    Rule(
        "email",
        # The bound of the local part is what makes base64 and hexadecimal dumps pass.
        value=(
            rf"{_BEFORE}[{_LOCAL}+-][{_LOCAL}.+'-]{{0,63}}(?:@|%40)"
            rf"(?:[{LETTERS}0-9-]+\.)+(?:[{LETTERS}]{{2,24}}|xn--[a-z0-9-]{{2,59}})(?![{LETTERS}0-9])"
        ),
        anchors=("@", "%40"),
        checks=(checks.email,),
        hashed=False,
        description="E-mail addresses",
        source="RFC 5321 and 5322; quoted local parts and unusual punctuation are not known",
        examples=(
            "Contact me at john.doe@example.com for more info.",
            "Email o'brien+news@mail.example.co.uk, please",
            '{"to":"a\\nbob@example.org"}',
            "https://example.com/?email=bob%40example.com&x=1",
            "josé@müller.example.de",
            "user@xn--80ak6aa92e.com",
        ),
        near_misses=(
            "git@github.com:owner/project.git",
            "logo@2x.png",
            "@pytest.fixture",
            "lodash@4.17.21 and thing@1.2.beta",
            "a..b@example.com",
            "user@localhost, user@, @test.com",
            "systemctl start user@1000.service",
        ),
    ),
    Rule(
        "phone-international",
        value=(
            r"(?:(?<![A-Za-z0-9+])(?:\+|%2B)[1-9]|(?<![A-Za-z0-9_.-])00[1-9][0-9]{0,2}[ -])"
            rf"(?:[ \u00a0().-]{{0,2}}[0-9]){{6,14}}{_PHONE_END}"
        ),
        anchors=("+", "%2B", "00"),
        checks=(checks.international_phone,),
        needs=("phonenumbers",),
        hashed=False,
        description="Phone numbers with a country code",
        source="ITU-T E.164; Google's libphonenumber",
        examples=(
            "Call +1 415 555 2671 100 times",
            "+49 (30) 901820",
            "tel:+442079460000 or +44 20 7946 0958.",
            "WhatsApp: +55 11 96123-4567",
            "?tel=%2B4930901820",
            "0049 30 901820",
        ),
        near_misses=("x = a +1234567", "+1 234", "+999 1234 5678", "1+4155552671"),
    ),
    Rule(
        "phone-us",
        value=(
            rf"{NUMBER}(?:1[ .-])?(?:\([2-9][0-9]{{2}}\)[ -]?|[2-9][0-9]{{2}}[ .-])"
            rf"[2-9][0-9]{{2}}[ .-][0-9]{{4}}{NUMBER_END}"
        ),
        checks=(checks.us_phone,),
        needs=("phonenumbers",),
        hashed=False,
        description="Phone numbers of the United States, Canada and the Caribbean",
        source="North American Numbering Plan; Google's libphonenumber",
        examples=("My number is (415) 555-0132.", "1-212-736-5000", "415.555.2671"),
        near_misses=("555-0132", "(555) 555-5555", "415-5555-2671", "10.415.555.2671"),
    ),
    Rule(
        "phone-trunk",
        value=(
            # Two groups alone may be anything: a postal code, a number on a form.
            rf"{NUMBER}(?<![0-9A-Z][ ])"
            r"(?:(?:\(0[1-9][0-9]{0,4}\)[ ]?|0[1-9][0-9]{0,4}[ ]?/[ ]?)[0-9]{2,8}(?:[ -][0-9]{2,5}){0,4}"
            r"|0[1-9][0-9]{0,4}[ -][0-9]{2,8}(?:[ -][0-9]{2,5}){1,4}"
            r"|0[ ]\(?[1-9][0-9]{2}\)?(?:[ -][0-9]{2,4}){2,3}"
            r"|8(?:[ ]?\([3489][0-9]{2}\)[ ]?|[ -][3489][0-9]{2}[ -])"
            rf"[0-9]{{3}}[ -][0-9]{{2}}[ -][0-9]{{2}}){NUMBER_END}"
        ),
        checks=(checks.trunk_phone,),
        needs=("phonenumbers",),
        hashed=False,
        description="Phone numbers in groups after a leading zero, or after an eight in Russia",
        source="national notations of ITU-T E.123; Google's libphonenumber",
        examples=(
            "Tél. 01 42 68 53 00",
            "rufen Sie 030 901820-12 an",
            "(020) 7946 0958",
            "03-3224-5000",
            "0 532 123 45 67",
            "8 (495) 123-45-67",
            "8-916-123-45-67",
        ),
        near_misses=(
            "Boston, MA 02110-1301",
            "NL91 ABNA 0417 1643 01",
            "01-02-2024",
            "01 02 2024 10",
            "02 03 04",
            "01 02 03 04 05",
            "8 (295) 123-45-67",
            "18 (495) 123-45-67",
            "0.1 0.2 0.3",
            "2024-01-15 10",
        ),
    ),
    Rule(
        "phone-announced",
        context=rf"(?:{announced(*_PHONE_WORDS)})",
        value=rf"{NUMBER}(?:\+|\(\+?)?[0-9](?:[ \u00a0()./-]{{0,3}}[0-9]){{6,14}}{_PHONE_END}",
        anchors=words_of(*_PHONE_WORDS),
        checks=(checks.national_phone,),
        needs=("phonenumbers",),
        hashed=False,
        description="Phone numbers after a word that announces one",
        source="Google's libphonenumber, in the regions of a fixed list",
        examples=(
            "手机号码：13812345678",
            '"phoneNumber": "4155552671"',
            "тел. 8 (495) 123-45-67",
            "mobile 98765 43210",
            "Cell: 0917-123-4567",
        ),
        near_misses=("phone 12", "cellular automaton 110", "telnet 1234567890123456", "tel: 0000000"),
    ),
)
