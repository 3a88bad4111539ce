"""National ids that are bare digits: a word before them has to say what they are.

A checksum alone lets one number in ten or in a hundred through, and any log is full of
numbers.
"""

from __future__ import annotations

from streamguard.redact.rule import Check, Rule
from streamguard.redact.rules.pii import checks
from streamguard.redact.rules.pii.edges import NUMBER, NUMBER_END, WORD, announced, digits, words_of

__all__ = ["WORDS"]


def _number(  # noqa: PLR0917 - a table, read by columns
    name: str,
    words: str,
    value: str,
    modules: str,
    description: str,
    examples: tuple[str, ...],
    near_misses: tuple[str, ...],
    check: Check | None = None,
) -> Rule:
    """One rule: words that announce it, between commas; the modules of stdnum that know it."""
    listed = words.split(", ")
    letters = value.startswith("[A-Z")
    return Rule(
        name,
        context=announced(*listed),
        value=f"{WORD if letters else NUMBER}{value}{NUMBER_END}",
        anchors=words_of(*listed),
        checks=(check or checks.registered(*modules.split()),),
        needs=() if check else ("stdnum",),
        hashed=False,
        description=f"{description}, after a word that announces them",
        source=f"python-stdnum: {modules.replace(' ', ', ')}" if modules else "the authorities' own forms",
        examples=examples,
        near_misses=near_misses,
    )


def _has_digits(value: str) -> bool:
    return len(set(value)) > 2


WORDS = (
    _number(
        "us-ssn-number", "ssn, social security, Social security", digits(9), "us.ssn us.itin",
        "American Social Security numbers in any notation",
        ("SSN 078051123", "social security number is 078 05 1123"),
        ("SSN 000121234", "ssn = 1234", "session 078051123"),
    ),
    _number(
        "us-itin-number", "itin, tax id, tax ID, Tax ID, taxpayer", digits(9), "us.itin us.ssn",
        "American taxpayer numbers in any notation",
        ("ITIN 911701234", "my tax id is 911 70 1234"),
        ("my tax id is 911891234",),
    ),
    _number(
        "us-npi", "npi, national provider", digits(10, first="[12]"), "",
        "American numbers of health providers (NPI)",
        ("NPI: 1234567893", "npi 1245319599"),
        ("NPI: 1234567890",),
        check=checks.provider,
    ),
    _number(
        "in-aadhaar", "aadhaar, aadhar, uidai, आधार", digits(12, first="[2-9]"), "in_.aadhaar in_.vid",
        "Indian identity numbers (Aadhaar)",
        ("Aadhaar: 2341 2341 2346", "my aadhar number is 234123412346"),
        ("Aadhaar: 2341 2341 2347", "2341 2341 2346 2341"),
    ),
    _number(
        "gb-nhs", "nhs", digits(10), "gb.nhs",
        "British NHS numbers",
        ("NHS number: 943 476 5919", '"nhsNumber": "9434765870"', "nhs_no=943-476-5870"),
        ("NHS number: 9434765918", "nhs 12"),
    ),
    _number(
        "gb-utr", "utr, unique taxpayer", digits(10), "gb.utr",
        "British taxpayer references (UTR)",
        ("UTR 1955839661", "unique taxpayer reference: 19558 39661"),
        ("UTR 2955839661",),
    ),
    _number(
        "ru-inn", "инн, inn", "(?:[0-9]{12}|[0-9]{10})", "ru.inn",
        "Russian tax numbers (INN)",
        ("ИНН 123456789047", "inn: 1234567894"),
        ("ИНН 123456789037", "Финн 1234567894", "inner 1234567894"),
    ),
    _number(
        "ru-snils-number", "снилс, snils", digits(11), "",
        "Russian insurance numbers (SNILS) in any notation",
        ("СНИЛС: 11223344595", "snils 112 233 445 95"),
        ("СНИЛС: 11223344596",),
        check=checks.snils,
    ),
    _number(
        "pl-pesel", "pesel", digits(11), "pl.pesel",
        "Polish identity numbers (PESEL)",
        ("PESEL: 44051401359", "numer pesel 44051401359"),
        ("PESEL: 44051401358",),
    ),
    _number(
        "pl-nip", "nip", digits(10), "pl.nip",
        "Polish tax numbers (NIP)",
        ("NIP: 856-734-62-15", "nip 8567346215"),
        ("NIP: 8567346216", "snippet 8567346215", "nipple 8567346215"),
    ),
    _number(
        "br-cpf-number", "cpf, cadastro", digits(11), "br.cpf",
        "Brazilian tax numbers of persons (CPF) in any notation",
        ("CPF: 39053344705", "cpf 390 533 447 05"),
        ("CPF: 39053344706",),
    ),
    _number(
        "de-idnr", "steuer, idnr, IdNr, tin, tax id, Tax ID, tax ID", digits(11), "de.idnr",
        "German tax identification numbers",
        ("Steuer-ID: 36 574 261 809", "IdNr. 36574261809 liegt vor", "Steuernummer 36574261809"),
        ("Steuer-ID: 36 574 261 890", "tint 36574261809"),
    ),
    _number(
        "de-kvnr", "kvnr, krankenkasse, krankenversicherung, versichertennummer", "[A-Z][0-9]{9}", "",
        "German health insurance numbers",
        ("Krankenkasse KVNR: A123456780", "Versichertennummer A000500015"),
        ("KVNR: A323456780", "A123456780"),
        check=checks.german_health_insurance,
    ),
    _number(
        "fr-nif", "nif, numéro fiscal, impôts", digits(13, first="[0-3]"), "fr.nif",
        "French tax numbers",
        ("numéro fiscal : 30 23 217 600 053", "NIF 3023217600053"),
        ("NIF 3023217600054",),
    ),
    _number(
        "nl-bsn", "bsn, burgerservicenummer, sofinummer", digits(9), "nl.bsn",
        "Dutch citizen service numbers (BSN)",
        ("BSN: 111222333", "burgerservicenummer 1112.22.333"),
        ("BSN: 111252333",),
    ),
    _number(
        "be-nn-number", "rijksregister, registre national, national register, niss, insz", digits(11),
        "be.nn be.bis",
        "Belgian national register numbers in any notation",
        ("rijksregisternummer 85073003328", "NISS: 85 07 30 033 28"),
        ("NISS: 85 07 30 033 29",),
    ),
    _number(
        "nordic-number", "personnummer, fødselsnummer, fodselsnummer, fnr, cpr, kennitala, ssn",
        "(?:[0-9]{8}[+-]?[0-9]{4}|[0-9]{6}[ +-]?[0-9]{4,5})",
        "se.personnummer no.fodselsnummer dk.cpr is_.kennitala",
        "Swedish, Norwegian, Danish and Icelandic personal numbers",
        (
            "personnummer 198803200016",
            "fødselsnummer: 151086 95088",
            "CPR-nr. 211062-5629",
            "kennitala 120174-3399",
        ),
        ("CPR 991362-5629", "personnummer 880399-0018"),
    ),
    _number(
        "ca-sin", "sin, nas, social insurance, assurance sociale", digits(9), "ca.sin",
        "Canadian social insurance numbers (SIN)",
        ("SIN 123-456-782", "social insurance number: 130692544"),
        ("SIN 123-456-789", "since 123-456-782", "SINGLE 123456782"),
    ),
    _number(
        "au-tfn", "tfn, tax file", digits(9), "au.tfn",
        "Australian tax file numbers (TFN)",
        ("TFN: 123 456 782", "tax file number 123456782"),
        ("TFN: 123 456 789",),
    ),
    _number(
        "nz-ird", "ird", digits(8, most=9), "nz.ird",
        "New Zealand tax numbers (IRD)",
        ("IRD 49-091-850", "ird number 49098576"),
        ("IRD 136410133", "bird 49091850"),
    ),
    _number(
        "jp-my-number", "マイナンバー, 個人番号, my number", digits(12), "jp.in_",
        "Japanese individual numbers (My Number)",
        ("マイナンバー：6214 9832 0257", "my number is 621498320257"),
        ("マイナンバー：6214 9832 0258",),
    ),
    _number(
        "kr-rrn-number", "주민등록번호, 주민번호, rrn", "[0-9]{13}", "kr.rrn",
        "Korean resident registration numbers in one piece",
        ("주민등록번호 9710139019902", "RRN: 9710139019902"),
        ("주민등록번호 9710139019903",),
    ),
    _number(
        "tr-kimlik", "kimlik, tckn, tc no, Turkish ID", digits(11, first="[1-9]"), "tr.tckimlik",
        "Turkish identity numbers",
        ("TC Kimlik No: 17291716060", "TCKN 17291716060"),
        ("TC Kimlik No: 17291716050",),
    ),
    _number(
        "za-id", "South African ID, RSA ID, SA ID, id number, ID number, identity number",
        digits(13), "za.idnr",
        "South African identity numbers",
        ("My South African ID is 7503305044089.", "RSA ID: 750330 5044 089"),
        ("RSA ID: 8503305044089",),
    ),
    _number(
        "bg-egn", "егн, egn", "[0-9]{10}", "bg.egn bg.pnf",
        "Bulgarian personal numbers (EGN)",
        ("ЕГН 8032056031", "EGN: 7523169263"),
        ("ЕГН 8032056032", "ЕГНА 8032056031"),
    ),
    _number(
        "ro-cnp", "cnp, cod numeric personal", "[1-9][0-9]{12}", "ro.cnp",
        "Romanian personal numbers (CNP)",
        ("CNP 1630615123457", "cod numeric personal: 1630615123457"),
        ("CNP 1630615123458",),
    ),
    _number(
        "at-vnr", "svnr, sv-nr, sozialversicherung, versicherungsnummer",
        "[1-9][0-9]{3}[ -]?[0-9]{6}", "at.vnr",
        "Austrian insurance numbers",
        ("SVNR: 1237 010180", "Versicherungsnummer 1237010180"),
        ("SVNR: 2237 010180",),
    ),
    _number(
        "cz-sk-rc-number", "rodné číslo, rodne cislo", "[0-9]{9,10}", "cz.rc sk.rc",
        "Czech and Slovak birth numbers in one piece",
        ("rodné číslo 7103192745", "rodne cislo: 991231123"),
        ("rodné číslo 7103192746",),
    ),
    _number(
        "baltic-number", "isikukood, asmens kodas, personal code", "[1-6][0-9]{10}", "ee.ik lt.asmens",
        "Estonian and Lithuanian personal codes",
        ("isikukood 36805280109", "asmens kodas: 33309240064"),
        ("isikukood 36805280108",),
    ),
    _number(
        "gr-amka", "αμκα, amka", "[0-9]{11}", "gr.amka",
        "Greek social security numbers (AMKA)",
        ("ΑΜΚΑ: 01013099997", "amka 01013099997"),
        ("ΑΜΚΑ: 01013099999",),
    ),
    _number(
        "hr-oib", "oib", "[0-9]{11}", "hr.oib",
        "Croatian personal numbers (OIB)",
        ("OIB: 33392005961", "oib 33392005961"),
        ("OIB: 33392005962",),
    ),
    _number(
        "ie-pps", "pps, ppsn, personal public service", "[0-9]{7}[A-W][A-IW]?", "ie.pps",
        "Irish personal public service numbers (PPS)",
        ("PPS number: 6433435F", "PPSN 6433435OA"),
        ("PPS number: 6433435E", "apps 6433435F"),
    ),
    _number(
        "il-id", "תעודת זהות, מספר זהות, teudat zehut, Israeli ID", "[0-9]{7,8}-?[0-9]", "il.idnr",
        "Israeli identity numbers",
        ("תעודת זהות 39337423", "Israeli ID: 3933742-3"),
        ("תעודת זהות 39337422",),
    ),
    _number(
        "nif-number", "nif, dni, contribuinte, documento", digits(8, most=9), "pt.nif pe.cui",
        "Portuguese tax numbers and Peruvian identity numbers",
        ("NIF: 501 964 843", "contribuinte 501964843"),
        ("NIF: 501 964 842", "unified 501964843"),
    ),
    _number(
        "si-emso", "emšo, emso, jmbg, матични, umcn", "[0-9]{13}", "si.emso",
        "Slovenian personal numbers and those of the other states that were Yugoslavia",
        ("EMŠO 0101006500006", "JMBG: 0101006500006"),
        ("EMŠO 0101006500007",),
    ),
    _number(
        "ua-rntrc", "рнокпп, іпн, инн, податковий", "[0-9]{10}", "ua.rntrc",
        "Ukrainian tax numbers of persons",
        ("РНОКПП 1759013776", "ІПН: 1759013776"),
        ("РНОКПП 1759013770",),
    ),
    _number(
        "th-pin-number", "เลขบัตรประชาชน, เลขประจำตัว, Thai ID", digits(13, first="[1-8]"), "th.pin",
        "Thai personal identity numbers in any notation",
        ("เลขบัตรประชาชน 3100600445635", "Thai ID 3 1006 00445 63 5"),
        ("Thai ID 3100600445636",),
    ),
    _number(
        "latin-american-id", "cédula, cedula, rut, cuit, cuil", "[0-9]{7,10}[0-9Kk]?(?:-[0-9Kk])?",
        "ec.ci cl.rut ar.cuit do.cedula",
        "Identity numbers of Ecuador, Chile, Argentina and the Dominican Republic in one piece",
        ("RUT: 12531909-2", "cédula 171430710-3", "CUIT 20055361682"),
        ("RUT: 12531909-3", "rut 12"),
    ),
    _number(
        "id-nik", "nik, ktp, nomor induk", "[0-9]{16}", "id.nik",
        "Indonesian identity numbers (NIK)",
        ("NIK: 3171011708450001", "nomor induk kependudukan 3171011708450001"),
        ("NIK: 9971011708450001", "Nikon 3171011708450001"),
    ),
    _number(
        "ng-nin", "nin, NIN, national identification number", "[0-9]{11}", "verhoeff",
        "Nigerian identity numbers (NIN)",
        ("My NIN is 12345678902.", "nin: 01234567895"),
        ("My NIN is 12345678901", "Feminin 12345678902"),
    ),
    _number(
        "driving-licence",
        "driver license, drivers license, driver's license, driving license, driving licence, driver licence,"
        " führerschein, permis de conduire, licencia de conducir, carnet de conducir, rijbewijs, patente",
        "(?:[A-Z]{1,5}[0-9]{4,10}[A-Z0-9]{0,6}|[0-9]{7,10})", "",
        "Numbers of driving licences, which have no common checksum",
        ("Führerscheinnummer: BO12345678A", "driver's license: C1234567", "driving licence SMITH851010AB1CD"),
        ("driver license 2024", "driver 12345678", "Führerschein Klasse B1"),
        check=_has_digits,
    ),
    _number(
        "passport", "passport, reisepass, passeport, pasaporte, passaporto, passaporte, paspoort, паспорт,"
        " 护照, 護照, パスポート, 여권",
        "(?:[A-Z]{1,3}[0-9]{6,8}[A-Z]?|[0-9]{8,10}|[0-9]{2}[ ]?[0-9]{2}[ ][0-9]{6})", "",
        "Passport numbers, which have no checksum",
        ("passport is A12803456", "паспорт 45 07 123456", "Mi pasaporte es AAA123456", "护照号 E12345678"),
        ("passport.js 0.6.0", "passport 123", "Reisepass 2024"),
        check=_has_digits,
    ),
)  # fmt: skip
