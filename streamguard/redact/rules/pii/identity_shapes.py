"""National ids that can be told by their shape: letters, or separators in fixed places.

Where people also write the number without them, `identity_words` has a second rule, whose
name ends in `-number`.
"""

from __future__ import annotations

from streamguard.redact.rule import Check, Rule
from streamguard.redact.rules.pii import checks
from streamguard.redact.rules.pii.edges import NUMBER, NUMBER_END, WORD

__all__ = ["SHAPES"]

_STDNUM = "python-stdnum: "


def _shape(  # noqa: PLR0917 - a table, read by columns
    name: str,
    value: str,
    check: Check | str,
    description: str,
    examples: tuple[str, ...],
    near_misses: tuple[str, ...],
    source: str = "",
) -> Rule:
    """One rule; a check that is the name of a module of stdnum stands for that."""
    start = NUMBER if value.startswith(("[0", "[1", "[2", "[5", "(?:[0", "756")) else WORD
    return Rule(
        name,
        value=f"{start}{value}{NUMBER_END}",
        checks=(checks.registered(check) if isinstance(check, str) else check,),
        needs=("stdnum",) if isinstance(check, str) else (),
        hashed=False,
        description=description,
        source=source or f"{_STDNUM}{check}",
        examples=examples,
        near_misses=near_misses,
    )


_DAY = "(?:0[1-9]|[12][0-9]|3[01])"
_MONTH = "(?:0[1-9]|1[0-2])"

SHAPES = (
    _shape(
        "us-ssn",
        r"[0-8][0-9]{2}-[0-9]{2}-[0-9]{4}",
        "us.ssn",
        "American Social Security numbers with hyphens",
        ("536-90-4399", "My SSN: 078-05-1123."),
        ("078-05-1120", "666-12-1234", "000-12-1234", "536-00-4399", "2024-10-1234", "536-90-43991"),
    ),
    _shape(
        "us-itin",
        r"9[0-9]{2}-[5-9][0-9]-[0-9]{4}",
        "us.itin",
        "American taxpayer numbers (ITIN) with hyphens",
        ("912-90-3456", "911-70-1234"),
        ("912-93-4567", "911-40-1234"),
    ),
    _shape(
        "us-medicare",
        r"[1-9][A-Z][A-Z0-9][0-9]-?[A-Z][A-Z0-9][0-9]-?[A-Z]{2}[0-9]{2}",
        checks.medicare_id,
        "American Medicare numbers (MBI)",
        ("1EG4-TE5-MK73", "Medicare ID: 3CD5-FG7-HJ89"),
        ("1EG4-TE5-OK73", "12G4-TE5-MK73"),
        "Centers for Medicare and Medicaid Services: format of the MBI",
    ),
    _shape(
        "gb-nino",
        r"[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z](?:[ ]?[0-9]{2}){3}[ ]?[A-D]",
        checks.national_insurance,
        "British National Insurance numbers",
        ("AA 12 34 56 B", "YZ614868B"),
        ("BG123612A", "AB 12 34 56 1", "DA123456A", "AB123456E"),
        "HM Revenue and Customs, NIM39110",
    ),
    _shape(
        "in-pan",
        r"[A-Z]{3}[ABCFGHJLPT][A-Z][0-9]{4}[A-Z]",
        "in_.pan",
        "Indian tax numbers (PAN)",
        ("ACUPA7085R", "PAN: ABCPD1234Z"),
        ("ABMXA3211G", "ACUPA0000R", "ACUPA7085RR"),
    ),
    _shape(
        "es-dni",
        r"[0-9]{8}-?[A-HJ-NP-TV-Z]",
        "es.dni",
        "Spanish identity numbers (DNI)",
        ("54362315-K", "12345678Z"),
        ("54362315Z", "12345678", "12345678ZZ"),
    ),
    _shape(
        "es-nie",
        r"[XYZ]-?[0-9]{7}-?[A-HJ-NP-TV-Z]",
        "es.nie",
        "Spanish identity numbers of foreigners (NIE)",
        ("X-2482300-W", "Z8078221M en mi NIE"),
        ("Y8063915Q", "W8063915Q"),
    ),
    _shape(
        "it-codice-fiscale",
        r"[A-Z]{6}[0-9LMNP-V]{2}[A-EHLMPRST][0-9LMNP-V]{2}[A-Z][0-9LMNP-V]{3}[A-Z]",
        "it.codicefiscale",
        "Italian tax codes of persons",
        ("RCCMNL83S18D969H", "CF: MLLSNT82P65Z404U"),
        ("RCCMNL83S18D969A", "MRTMTT91D08F205V"),
    ),
    _shape(
        "mx-curp",
        r"[A-Z]{4}[0-9]{6}[HMX][A-Z]{5}[A-Z0-9][0-9]",
        "mx.curp",
        "Mexican population registry codes (CURP)",
        ("BOXW310820HNERXN09", "CURP BOXW310820HNERXN09."),
        ("BOXW310820HNERXN08", "BOXW319920HNERXN09"),
    ),
    _shape(
        "fi-hetu",
        rf"[0-3][0-9]{_MONTH}[0-9]{{2}}[-+A-FU-Y][0-9]{{3}}[0-9A-FHJ-NPR-Y]",
        "fi.hetu",
        "Finnish personal identity codes",
        ("131052-308T", "id 131052-308T."),
        ("131052-308U", "310252-308Y", "131052:308T"),
    ),
    _shape(
        "cn-ric",
        rf"[1-9][0-9]{{5}}(?:19|20)[0-9]{{2}}{_MONTH}{_DAY}[0-9]{{3}}[0-9Xx]",
        "cn.ric",
        "Chinese identity card numbers",
        ("360426199101010071", "身份证号：360426199101010071。"),
        ("360426199101010072", "513231200012121293", "360426199113010071"),
    ),
    _shape(
        "br-cpf",
        r"[0-9]{3}\.[0-9]{3}\.[0-9]{3}-[0-9]{2}",
        "br.cpf",
        "Brazilian tax numbers of persons (CPF), with dots and hyphen",
        ("390.533.447-05", "CPF 012.345.678-90."),
        ("231.002.999-00", "111.111.111-11"),
    ),
    _shape(
        "de-svnr",
        r"[0-9]{2}[ ]?[0-9]{6}[ ]?[A-Z][ ]?[0-9]{3}",
        checks.german_pension_insurance,
        "German pension insurance numbers",
        ("15 070649 C103", "SVNR 20151090B023."),
        ("15 070649 C102", "15070649C10"),
        "Deutsche Rentenversicherung: composition of the insurance number",
    ),
    _shape(
        "fr-nir",
        r"[12](?:[ -]?[0-9]{2}){2}[ -]?(?:[0-9]{2}|2[AB])(?:[ -]?[0-9]{3}){2}[ -]?[0-9]{2}",
        "fr.nir",
        "French social security numbers (NIR)",
        ("2 95 10 99 126 111 93", "253072A07300443"),
        ("295109912611199", "253072C07300443", "2 95 10 99 126"),
    ),
    _shape(
        "be-nn",
        r"[0-9]{2}\.[0-9]{2}\.[0-9]{2}-[0-9]{3}\.[0-9]{2}",
        checks.registered("be.nn", "be.bis"),
        "Belgian national register and BIS numbers with separators",
        ("85.07.30-033.28", "98.47.28-997.65"),
        ("85.07.30-033.29", "12.34.56-789.01"),
        f"{_STDNUM}be.nn, be.bis",
    ),
    _shape(
        "ch-ahv",
        r"756(?:\.[0-9]{4}\.[0-9]{4}\.[0-9]{2}|[0-9]{10})",
        "ch.ssn",
        "Swiss social security numbers (AHV, AVS)",
        ("756.9217.0769.85", "AHV 7569217076985"),
        ("756.9217.0769.84", "7569217076984"),
    ),
    _shape(
        "kr-rrn",
        rf"[0-9]{{2}}{_MONTH}{_DAY}-[0-9]{{7}}",
        "kr.rrn",
        "Korean resident registration numbers; those given out since 2020 have no checksum and are not known",
        ("971013-9019902", "주민등록번호: 971013-9019902"),
        ("971013-9019903", "971313-9019902"),
    ),
    _shape(
        "se-personnummer",
        r"(?:19)?[0-9]{6}[-+][0-9]{4}",
        "se.personnummer",
        "Swedish personal identity numbers with separator",
        ("880320-0016", "19880320-0016"),
        ("880320-0018", "881320-0016", "20240115-1234"),
    ),
    _shape(
        "cz-sk-rc",
        r"[0-9]{6}/[0-9]{3,4}",
        checks.registered("cz.rc", "sk.rc"),
        "Czech and Slovak birth numbers with slash",
        ("710319/2745", "r.č. 710319/2745"),
        ("710319/2746", "110349/2745"),
        f"{_STDNUM}cz.rc, sk.rc",
    ),
    _shape(
        "ar-cuit",
        r"[23][0-9]-[0-9]{8}-[0-9]",
        "ar.cuit",
        "Argentine tax numbers (CUIT, CUIL) with hyphens",
        ("20-05536168-2", "CUIL: 20-26756539-3"),
        ("20-26756539-2", "20-2675653-3"),
    ),
    _shape(
        "cl-rut",
        r"[0-9]{1,2}\.[0-9]{3}\.[0-9]{3}-[0-9Kk]",
        "cl.rut",
        "Chilean tax numbers (RUT, RUN) with dots",
        ("12.531.909-2", "RUT 76.086.428-5"),
        ("12.531.909-3", "1.234.567-0"),
    ),
    _shape(
        "ru-snils",
        r"[0-9]{3}-[0-9]{3}-[0-9]{3}[ -][0-9]{2}",
        checks.snils,
        "Russian insurance numbers (SNILS) with hyphens",
        ("112-233-445 95", "СНИЛС 087-654-303 00"),
        ("112-233-445 96", "112-233-44595"),
        "Pension Fund of Russia: check number of the SNILS",
    ),
    _shape(
        "th-pin",
        r"[1-8]-[0-9]{4}-[0-9]{5}-[0-9]{2}-[0-9]",
        "th.pin",
        "Thai personal identity numbers with hyphens",
        ("1-2345-45678-78-1", "ID 3-1006-00445-63-5"),
        ("1-2345-45678-78-9", "1-2345-45678-78"),
    ),
    _shape(
        "pk-cnic",
        r"[1-7][0-9]{4}-[0-9]{7}-[0-9]",
        "pk.cnic",
        "Pakistani identity card numbers with hyphens",
        ("34201-0891231-8", "CNIC 42201-0397640-8"),
        ("34201-089123-8", "04201-0891231-8"),
    ),
    _shape(
        "my-nric",
        rf"[0-9]{{2}}{_MONTH}{_DAY}-[0-9]{{2}}-[0-9]{{4}}",
        "my.nric",
        "Malaysian identity card numbers with hyphens",
        ("770305-02-1234", "IC: 770305-02-1234"),
        ("771305-02-1234", "770305-17-1234"),
    ),
    _shape(
        "do-cedula",
        r"[0-9]{3}-[0-9]{7}-[0-9]",
        "do.cedula",
        "Dominican identity numbers with hyphens",
        ("001-1391820-5", "cédula 001-1391820-5"),
        ("001-1391820-4", "001-139182-5"),
    ),
    _shape(
        "sg-nric",
        r"[STFGM][0-9]{7}[A-Z]",
        checks.singapore_id,
        "Singaporean identity numbers (NRIC, FIN)",
        ("S6859080I", "NRIC S2740116C was processed", "M9612050P"),
        ("S6859080A", "M9612050Q", "I6859080I"),
        "Immigration and Checkpoints Authority; the check letter is public knowledge",
    ),
    _shape(
        "hk-id",
        r"[A-Z]{1,2}[0-9]{6}\([0-9A]\)",
        checks.hong_kong_id,
        "Hong Kong identity card numbers",
        ("A123456(3)", "HKID: G123456(A)"),
        ("A123456(4)", "A12345(3)"),
        "Immigration Department of Hong Kong; the check digit is public knowledge",
    ),
    _shape(
        "tw-id",
        r"[A-Z][1289][0-9]{8}",
        checks.taiwan_id,
        "Taiwanese identity numbers",
        ("A123456789", "身分證 F131104093"),
        ("A123456788", "A323456789"),
        "Ministry of the Interior of Taiwan; the check digit is public knowledge",
    ),
    _shape(
        "ve-rif",
        r"[VE]-[0-9]{8}-[0-9]",
        "ve.rif",
        "Venezuelan tax numbers of persons",
        ("V-11470283-4", "RIF: V-11470283-4"),
        ("V-11470283-3", "V-1147028-4"),
    ),
    _shape(
        "pt-cc",
        r"[0-9]{8}[ ][0-9][ ]?[A-Z]{2}[0-9]",
        "pt.cc",
        "Portuguese citizen card numbers",
        ("00000000 0 ZZ4", "CC 00000000 0ZZ4."),
        ("00000000 0 ZZ3", "12345678 9 AB1"),
    ),
)
