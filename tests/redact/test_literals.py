"""Known values: where they are found, how they may be written, and that nobody gets to see them."""

from __future__ import annotations

import base64
import copy
import dataclasses
import json
import pickle
import random
import string
import urllib.parse
from collections.abc import Callable, Iterator, Mapping

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streamguard.redact import Redactor, digest
from streamguard.redact.literal_index import SHORT, WINDOW
from streamguard.redact.literals import LiteralRedactor
from streamguard.redact.spellings import ENCODINGS
from streamguard.session import Bound, End, Finding
from streamguard.testing import check_linear, check_minimal, check_transformer, every_cut, random_cuts

EXAMPLES = settings().max_examples
UNSURE = [End.TRUNCATED, End.ERROR]
SURE = [End.COMPLETE, End.TOOL_CALL]


def _named(rule: str, digest: str) -> str:
    return f"<{rule}>"


def _same(rule: str, digest: str) -> str:
    return "*"


def raw(*values: str, placeholder: Callable[[str, str], str] | None = _named) -> LiteralRedactor:
    """A redactor of plain values, `a` being the first, with placeholders easy to read."""
    named = dict(zip(string.ascii_lowercase, values, strict=False))
    return LiteralRedactor(named, placeholder=placeholder, encodings=(), min_length=4)


def streamed(
    t: LiteralRedactor, chunks: list[str], end: End = End.COMPLETE
) -> tuple[str, list[tuple[str, int, int]]]:
    findings: list[Finding] = []
    session = t.session(on_finding=findings.append)
    out = "".join([session.feed(chunk) for chunk in chunks]) + session.flush(end)
    return out, [(one.rule, one.offset, one.length) for one in findings]


def expected(
    values: Mapping[str, str], text: str, mark: Callable[[str, str], str] = _named
) -> tuple[str, list[tuple[str, int, int]]]:
    """The definition: the leftmost, of those that begin together the longest."""
    out = ""
    found: list[tuple[str, int, int]] = []
    at = 0
    while at < len(text):
        here = [(len(value), name) for name, value in values.items() if text.startswith(value, at)]
        if here:
            length, name = max(here)
            out += mark(name, "")
            found.append((name, at, length))
            at += length
        else:
            out += text[at]
            at += 1
    return out, found


def suffixes(*values: str) -> Iterator[str]:
    for value in values:
        for at in range(1, len(value)):
            yield value[at:]
            yield value[at:] + "?"


# -- what is replaced ----------------------------------------------------------------------


@settings(max_examples=2 * EXAMPLES)
@given(
    st.lists(
        st.text("ab", min_size=4, max_size=8).filter(lambda value: len(set(value)) > 1),
        min_size=1,
        max_size=6,
        unique=True,
    ),
    st.text("ab", max_size=30),
    st.text("ab-", max_size=12),
)
def test_every_cut_finds_the_leftmost_and_of_those_the_longest(
    values: list[str], start: str, rest: str
) -> None:
    named = dict(zip(string.ascii_lowercase, values, strict=False))
    t = raw(*values)
    text = start + rest
    for chunks in (*every_cut(text), *random_cuts(text, n=5)):
        assert streamed(t, chunks) == expected(named, text)


@settings(max_examples=EXAMPLES // 4, deadline=None)
@given(
    st.lists(
        st.text("ab", min_size=4, max_size=7).filter(lambda value: len(set(value)) > 1),
        min_size=1,
        max_size=4,
        unique=True,
    ),
    st.text("ab", max_size=14),
    st.sampled_from([_named, _same]),
)
def test_no_character_is_held_without_a_reason(
    values: list[str], text: str, placeholder: Callable[[str, str], str]
) -> None:
    t = raw(*values, placeholder=placeholder)
    check_minimal(t, text, "ab", depth=2, continuations=suffixes(*values), atomic="<[a-z]>")


@settings(max_examples=EXAMPLES // 2)
@given(st.lists(st.sampled_from(["abab", "ababab", "babb", "abaabaab", "aab", "b", "-", "é"]), max_size=120))
def test_a_long_chunk_is_searched_to_the_same_end_as_a_short_one_is_walked(parts: list[str]) -> None:
    values = {"a": "abab", "b": "ababab", "c": "babb", "d": "abaabaabé"}
    t = raw(*values.values())
    text = "".join(parts)
    for chunks in ([text], list(text), *random_cuts(text, n=3)):
        assert streamed(t, chunks) == expected(values, text)


@pytest.mark.parametrize("around", [WINDOW, 2 * WINDOW, SHORT, SHORT + 1])
def test_a_value_across_the_edge_of_what_is_searched_at_once(around: int) -> None:
    t = raw("hunter42")
    for at in range(around - 9, around + 2):
        text = "." * at + "hunter42" + "." * (WINDOW if at % 2 else 0)
        assert t.scrub(text) == text.replace("hunter42", "<a>")
        chunks = [text[:around], text[around:]]
        assert streamed(t, chunks) == (text.replace("hunter42", "<a>"), [("a", at, 8)])


def test_a_value_that_begins_another_waits_for_the_longer_one() -> None:
    t = raw("hunter42", "hunter42-more")
    session = t.session()
    assert session.feed("a hunter42") == "a "
    assert session.pending == 8
    assert session.feed("-mor") == ""
    assert session.feed("e!") == "<b>!"
    assert streamed(t, ["hunter42-mo", "re"]) == ("<b>", [("b", 0, 13)])
    assert streamed(t, ["hunter42-mo", "st"]) == ("<a>-most", [("a", 0, 8)])
    assert streamed(t, ["hunter42-mo"]) == ("<a>-mo", [("a", 0, 8)])


def test_a_placeholder_that_is_certain_is_shown_before_the_end_is_known() -> None:
    t = raw("hunter42", "hunter42-more", placeholder=_same)
    findings: list[Finding] = []
    session = t.session(on_finding=findings.append)
    assert session.feed("a hunter42") == "a *"
    assert session.pending == 0
    assert session.feed("-mo") == ""
    assert session.pending == 3
    assert not findings
    assert session.feed("st") == "-most"
    assert findings == [Finding("literals", "a", "redacted", 2, 8)]


def test_upper_and_lower_case_are_different() -> None:
    assert raw("hunter42").scrub("Hunter42 hunter42") == "Hunter42 <a>"


def test_thousands_of_values() -> None:
    draw = random.Random(7)
    letters = string.ascii_letters + string.digits + '_-+/=[]%\\"é'
    values = {f"K{n}": "".join(draw.choices(letters, k=draw.randint(12, 48))) for n in range(5000)}
    t = LiteralRedactor(values)
    assert len(t.ids) == 5000
    chosen = draw.sample(sorted(values), 200)
    text = " and ".join(values[name] for name in chosen)
    out = t.scrub(text)
    assert out.count("[REDACTED:k") == 200
    for name in chosen:
        assert f"[REDACTED:{name.lower()}:{digest(values[name])}]" in out
    for size in (1, 4, 300):
        assert streamed(t, [text[at : at + size] for at in range(0, len(text), size)])[0] == out
    assert t.scrub(out) == out


# -- encodings -----------------------------------------------------------------------------

VALUE = 'pä/s+w "ö\\rd"<&~é\'7'
JWTISH = "f3~k/9+Zq==Xy7&"


def _forms(value: str) -> Iterator[tuple[str, str]]:
    quote = urllib.parse.quote
    data = value.encode()
    yield "raw", value
    yield "url", quote(value, safe="")
    yield "url", quote(value)
    yield "url", urllib.parse.quote_plus(value)
    yield "url", quote(value, safe="!'()*")
    yield "url", quote(value, safe=";,/?:@&=+$-_.!~*'()#")
    yield "url", quote(value, safe="").replace("~", "%7E")
    yield "url", "".join(f"%{byte:02x}" for byte in data)
    yield "url", "".join(f"%{byte:02X}" for byte in data)
    lower = quote(value, safe="")
    for byte in sorted(set(data)):
        lower = lower.replace(f"%{byte:02X}", f"%{byte:02x}")
    yield "url", lower
    yield "json", json.dumps(value)[1:-1]
    yield "json", json.dumps(value, ensure_ascii=False)[1:-1]
    yield "json", json.dumps(value)[1:-1].replace("/", "\\/")
    yield "json", json.dumps(json.dumps(value)[1:-1])[1:-1]
    yield "json", json.dumps(value).replace("<", "\\u003c").replace("&", "\\u0026")[1:-1]
    yield "json", json.dumps(value).replace("\\u00e", "\\u00E").replace("\\u00f", "\\u00F")[1:-1]
    for encode in (base64.standard_b64encode, base64.urlsafe_b64encode):
        yield "base64", encode(data).decode()
        yield "base64", encode(data).decode().rstrip("=")
    yield "hex", data.hex()
    yield "hex", data.hex().upper()


@pytest.mark.parametrize("value", [VALUE, JWTISH, "plainvalue42", "line one\nline two\ttab"])
@pytest.mark.parametrize("before", ["", "=", "\\n", "%20"])
def test_every_encoding_has_the_placeholder_of_the_plain_value(value: str, before: str) -> None:
    t = LiteralRedactor({"DB_PASSWORD": value}, encodings=ENCODINGS)
    mark = f"[REDACTED:db-password:{digest(value)}]"
    for encoding, form in _forms(value):
        assert t.scrub(f"{before}{form}.") == f"{before}{mark}.", (encoding, form)
        for chunks in every_cut(f"{before}{form}."):
            assert streamed(t, chunks) == (f"{before}{mark}.", [("db-password", len(before), len(form))])


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_an_encoding_that_was_not_asked_for_is_left_alone(encoding: str) -> None:
    others = [one for one in ENCODINGS if one != encoding]
    with_it, without = (LiteralRedactor({"a": VALUE}, encodings=chosen) for chosen in ([encoding], others))
    for kind, form in _forms(VALUE):
        if kind == encoding and form != VALUE:
            assert with_it.scrub(form) != form
            assert without.scrub(form) == form


@settings(max_examples=EXAMPLES)
@given(
    st.text(string.printable + "äß漢", min_size=9, max_size=40).map(str.strip).filter(lambda v: len(v) > 8),
    st.text(max_size=7),
    st.text(max_size=7),
)
def test_a_value_inside_longer_base64_is_found_in_every_alignment(
    value: str, before: str, after: str
) -> None:
    if len(set(value)) == 1 or value.isdecimal():
        return
    t = LiteralRedactor({"a": value}, placeholder=_named)
    for encode in (base64.standard_b64encode, base64.urlsafe_b64encode):
        text = encode(f"{before}{value}{after}".encode()).decode()
        out = t.scrub(text)
        assert "<a>" in out
        assert len(out) - 3 <= len(text) - (len(value.encode()) * 4 // 3 - 3)


def test_the_password_of_basic_authentication() -> None:
    t = LiteralRedactor({"a": "correct-horse-battery"}, placeholder=_named)
    for user in ("u", "us", "use", "user"):
        header = base64.b64encode(f"{user}:correct-horse-battery".encode()).decode()
        out = t.scrub(f"Authorization: Basic {header}")
        assert out.endswith("<a>")
        assert base64.b64encode(user.encode()).decode().rstrip("=")[:-1] in out


def _wrapped(text: str, width: int, between: str) -> str:
    return between.join(text[at : at + width] for at in range(0, len(text), width))


@pytest.mark.parametrize("between", ["\n", "\r\n", "\n    ", "\n> "])
@pytest.mark.parametrize("width", [60, 64, 76])
def test_base64_wrapped_at_any_place(width: int, between: str) -> None:
    t = LiteralRedactor({"a": "correct-horse-battery"}, placeholder=_named)
    for before in range(60):
        encoded = base64.b64encode(b"x" * before + b":correct-horse-battery" + b"!" * 70).decode()
        text = f"{_wrapped(encoded, width, between)}\n"
        out = t.scrub(text)
        assert out.count("<a>") == 1
        assert base64.b64encode(b"!" * 60).decode() in _wrapped(out.split("<a>")[1], 500, "").replace(
            between, ""
        )
        assert len(text) - len(out) >= 28 - 2 - 3
        for chunks in (list(text), *random_cuts(text, n=2)):
            assert streamed(t, chunks)[0] == out
        long = "prose " * SHORT
        assert t.scrub(f"{long}{text}{long}") == f"{long}{out}{long}"


def test_what_encoders_of_the_standard_library_wrap() -> None:
    value = "long-Canary12-" * 12
    t = LiteralRedactor({"a": value}, placeholder=_named, encodings=["base64", "hex"])
    assert t.scrub(base64.encodebytes(value.encode()).decode()) == "<a>\n"
    assert t.scrub(_wrapped(value.encode().hex(), 60, "\n")) == "<a>"
    for cut in every_cut(base64.encodebytes(value.encode()).decode()):
        assert streamed(t, cut)[0] == "<a>\n"


@settings(max_examples=EXAMPLES)
@given(
    st.lists(
        st.sampled_from(
            ["b\ncaab\r\nab-ca", "ab-ab-ab-ca", "YWItYWIt", "YWItY", "\n", "\r", "\n ", " ", "ab-ca"]
        ),
        max_size=24,
    ).map("".join),
    st.sampled_from(["", ". " * (SHORT // 2), ". " * SHORT]),
)
def test_breaks_are_seen_the_same_whatever_the_chunks(text: str, around: str) -> None:
    t = LiteralRedactor({"a": "b\ncaab\nab-ca", "b": "ab-ab-ab-ca"}, placeholder=_named)
    text = around + text + around
    whole = streamed(t, [text])
    assert t.scrub(whole[0]) == whole[0]
    for chunks in (list(text), *random_cuts(text, n=3)):
        assert streamed(t, chunks) == whole


LINES = "-----BEGIN CANARY-----\n\nCanary12Canary12Canary12\nCanary34\n-----END CANARY-----"


def test_a_value_of_several_lines_has_them_ended_in_either_way_and_indented() -> None:
    for value in (LINES, LINES.replace("\n", "\r\n")):
        t = LiteralRedactor({"a": value}, placeholder=_named)
        unix = LINES
        windows = unix.replace("\n", "\r\n")
        for text in (
            unix,
            windows,
            unix.replace("\n", "\n    "),
            windows.replace("\n", "\n\t"),
            unix.replace("\n", "\n> "),
            json.dumps(unix)[1:-1],
            json.dumps(windows)[1:-1],
            base64.b64encode(windows.encode()).decode(),
            _wrapped(base64.b64encode(unix.encode()).decode(), 64, "\r\n"),
            urllib.parse.quote(windows),
        ):
            assert t.scrub(f"k: {text}.") == "k: <a>."
            for chunks in (list(f"k: {text}."), *random_cuts(f"k: {text}.", n=4)):
                assert streamed(t, chunks)[0] == "k: <a>."
        assert t.scrub(unix[:-2]) == unix[:-2]


def test_lines_that_are_wrapped_in_disorder_are_let_go() -> None:
    t = LiteralRedactor({"a": "correct-horse-battery"}, placeholder=_named)
    encoded = base64.b64encode(b"correct-horse-battery").decode()
    text = "\n".join(encoded)
    session = t.session()
    assert session.feed(text[:4]) == text[:4]
    assert t.scrub(text) == text
    bound = t.bounds()[0].characters
    for sample in ("\n".join([encoded[:6], encoded[6:-1]]), text, encoded[:9] + "\n" + " " * 20):
        session = t.session()
        for char in sample:
            session.feed(char)
            assert session.pending <= bound


def test_a_placeholder_with_a_line_break_is_not_looked_into() -> None:
    def mark(rule: str, digest: str) -> str:
        return f"<{rule}>\n<{rule}>"

    t = LiteralRedactor({"a": "><a and more"}, placeholder=mark)
    once = t.scrub("x ><a and more y")
    assert t.scrub(once) == once


def test_base64_too_short_to_tell_is_not_looked_for() -> None:
    t = LiteralRedactor({"a": "k9!xQz"}, placeholder=_named)
    assert t.scrub(base64.b64encode(b"k9!xQz").decode()) == "<a>"
    assert t.scrub(base64.b64encode(b"-k9!xQz").decode()) == base64.b64encode(b"-k9!xQz").decode()


def test_a_value_that_is_no_utf8() -> None:
    value = b"caf\xe9-passw0rd".decode("utf-8", "surrogateescape")
    t = LiteralRedactor({"a": value, "b": "half\ud83dpair!"}, placeholder=_named)
    assert t.scrub(f"{value} caf%E9-passw0rd half\ud83dpair! {value[:8]}") == f"<a> <a> <b> {value[:8]}"
    long = "." * (SHORT + 1)
    assert t.scrub(f"{long}{value}{long}\ud83d{long}half\ud83dpair!") == f"{long}<a>{long}\ud83d{long}<b>"


def test_a_plain_value_goes_before_the_encoding_of_another() -> None:
    inner = "correct-horse"
    t = LiteralRedactor({"a": inner, "b": base64.b64encode(inner.encode()).decode()}, placeholder=_named)
    assert t.scrub(base64.b64encode(inner.encode()).decode()) == "<b>"


def test_of_two_names_with_one_value_the_first_is_shown() -> None:
    t = LiteralRedactor({"a": "correct-horse", "b": "correct-horse"}, placeholder=_named)
    assert t.ids == ("a",)
    assert t.scrub("correct-horse") == "<a>"
    assert LiteralRedactor({"A_KEY": "correct-horse", "a_key": "correct-horse"}).ids == ("a-key",)


def test_white_space_around_a_value_is_no_part_of_it() -> None:
    t = LiteralRedactor({"a": " correct-horse\n"})
    assert t.scrub("correct-horse") == f"[REDACTED:a:{digest('correct-horse')}]"


def test_the_digest_is_keyed() -> None:
    t = LiteralRedactor({"a": "correct-horse"}, key=b"key")
    assert t.scrub("correct-horse") == f"[REDACTED:a:{digest('correct-horse', b'key')}]"


# -- what is refused -----------------------------------------------------------------------


@pytest.mark.parametrize(
    "value",
    [
        "",
        "k9!xQ",
        "   ab   ",
        "true",
        "localhost",
        "LocalHost",
        "passphrase",
        "0123456",
        "20240131",
        "xxxxxxxx",
        "[REDACTED:a:",
        "my [REDACTED:a:01234567] in it",
        "EDACTED",
        "REDACTED:",
        "passw[",
        "]]passw",
        "password[",
        "]password",
    ],
)
def test_a_value_that_stands_everywhere_is_refused_by_its_name(value: str) -> None:
    with pytest.raises(ValueError, match="'MY_NAME'") as caught:
        LiteralRedactor({"MY_NAME": value, "OTHER": "correct-horse"})
    if value.strip():
        assert value.strip() not in str(caught.value)
    t = LiteralRedactor.from_environment(environ={"SECRET": value, "A_TOKEN": "correct-horse"})
    assert t.ids == ("a-token",)


def test_min_length() -> None:
    with pytest.raises(ValueError, match="shorter than 12"):
        LiteralRedactor({"a": "elevenchars"}, min_length=12)
    assert LiteralRedactor({"a": "k9!x"}, min_length=4, placeholder=_named).scrub("k9!x") == "<a>"
    with pytest.raises(ValueError, match="min_length"):
        LiteralRedactor({"a": "k9!x"}, min_length=3)


def test_a_long_number_is_a_value() -> None:
    assert LiteralRedactor({"a": "491827364510"}, placeholder=_named).scrub("491827364510") == "<a>"


@pytest.mark.parametrize(
    ("names", "match"),
    [(("DB_PASSWORD", "db.password"), "one id"), (("123_",), "makes no id"), ((), "none|values")],
)
def test_names_that_make_no_ids(names: tuple[str, ...], match: str) -> None:
    values = {name: f"correct-horse-{number}" for number, name in enumerate(names)}
    with pytest.raises(ValueError, match=match) as caught:
        LiteralRedactor(values)
    assert "correct" not in str(caught.value)
    with pytest.raises(ValueError, match=match):
        LiteralRedactor.from_environment(names, environ=values)


@pytest.mark.parametrize(
    ("name", "made"),
    [("DB_PASSWORD", "db-password"), ("2FA__Key_", "fa-key"), ("Ä-api.KEY", "api-key"), ("K" * 99, "k" * 64)],
)
def test_names_become_ids(name: str, made: str) -> None:
    assert LiteralRedactor({name: "correct-horse"}).ids == (made,)


def test_options_that_make_no_sense() -> None:
    values = {"a": "correct-horse"}
    with pytest.raises(ValueError, match="empty key"):
        LiteralRedactor(values, key=b"")
    with pytest.raises(ValueError, match="rot13"):
        LiteralRedactor(values, encodings=["rot13"])
    with pytest.raises(TypeError, match="encodings"):
        LiteralRedactor(values, encodings="url")
    with pytest.raises(TypeError, match="names"):
        LiteralRedactor.from_environment("HOME", environ={})
    with pytest.raises(TypeError, match="'a' must be str, not bytes"):
        LiteralRedactor({"a": b"correct-horse"})  # type: ignore[dict-item]


# -- the environment -----------------------------------------------------------------------


def test_the_environment_by_names_that_tell(monkeypatch: pytest.MonkeyPatch) -> None:
    environ = {
        "DB_PASSWORD": "hunter42-a",
        "API_KEY": "hunter42-b",
        "github_token": "hunter42-c",
        "HOME": "/home/hunter",
        "DEBUG_TOKENS": "true",
    }
    t = LiteralRedactor.from_environment(environ=environ, placeholder=_named)
    assert t.ids == ("db-password", "api-key", "github-token")
    assert t.scrub(" ".join(environ.values())) == "<db-password> <api-key> <github-token> /home/hunter true"
    assert LiteralRedactor.from_environment(environ=environ, pattern="^HOME$").ids == ("home",)
    assert LiteralRedactor.from_environment(["HOME", "NOT_SET"], environ=environ).ids == ("home",)
    monkeypatch.setenv("STREAMGUARD_TEST_SECRET", "hunter42-d")
    assert LiteralRedactor.from_environment(["STREAMGUARD_TEST_SECRET"]).scrub("hunter42-d") != "hunter42-d"


def test_an_environment_without_secrets() -> None:
    t = LiteralRedactor.from_environment(environ={"HOME": "/home/hunter"})
    assert t.ids == ()
    assert t.bounds() == ()
    assert t.scrub("anything " * 100) == "anything " * 100
    assert t.session().feed("anything") == "anything"


# -- nobody gets to see them ---------------------------------------------------------------


def test_values_are_in_no_repr_field_copy_pickle_or_finding() -> None:
    value = "correct-horse-battery"
    t = LiteralRedactor({"a": value}, key=b"the-key")
    session = t.session()
    session.feed(value[:-1])
    shown = [repr(t), str(t), repr(dataclasses.asdict(t)), repr(dataclasses.astuple(t)), repr(t.bounds())]
    shown += [repr(vars(t)), repr(session)]
    for one in shown:
        assert "correct" not in one
        assert "the-key" not in one
    for held in (t, [t], vars(t)):
        with pytest.raises(TypeError) as caught:
            pickle.dumps(held)
        assert "correct" not in str(caught.value)
    assert copy.copy(t) is t
    assert copy.deepcopy(t) is t
    findings: list[Finding] = []
    t.scrub(value, on_finding=findings.append)
    assert findings == [Finding("literals", "a", "redacted", 0, len(value))]
    assert hash(t) == hash(t)
    assert t != LiteralRedactor({"a": value})


def test_bounds_are_those_of_the_longest_spelling() -> None:
    t = LiteralRedactor({"a": "hunter42", "b": "hunter42-more"}, encodings=())
    assert t.bounds() == (Bound("literals", "a", 7), Bound("literals", "b", 12))
    assert LiteralRedactor({"a": "hunter42"}).bounds() == (Bound("literals", "a", 23),)


# -- how a stream ends ---------------------------------------------------------------------


@pytest.mark.parametrize("end", SURE)
def test_a_partial_value_is_shown_when_the_text_is_complete(end: End) -> None:
    assert streamed(raw("hunter42"), ["a hunter4"], end) == ("a hunter4", [])


@pytest.mark.parametrize("end", UNSURE)
def test_a_partial_value_is_dropped_when_the_end_is_doubtful(end: End) -> None:
    t = raw("hunter42", "hunter42-more")
    for chunks in every_cut("a hunter4"):
        assert streamed(t, chunks, end) == ("a ", [("half-received", 2, 7)])
    assert streamed(t, ["a hunt"], end) == ("a ", [("half-received", 2, 4)])
    assert streamed(t, ["a hun"], end) == ("a hun", [])
    assert streamed(t, ["a hunter42"], end) == ("a <a>", [("a", 2, 8)])
    for chunks in every_cut("a hunter42-m"):
        assert streamed(t, chunks, end) == ("a <a>", [("a", 2, 8), ("half-received", 10, 2)])
    assert streamed(t, [""], end) == ("", [])
    same = raw("hunter42", "hunter42-more", placeholder=_same)
    for chunks in every_cut("a hunter42-m"):
        assert streamed(same, chunks, end) == ("a *", [("a", 2, 8), ("half-received", 10, 2)])


# -- the laws ------------------------------------------------------------------------------

AWKWARD = {"a": "]hunter42[", "b": "[[secret-b", "c": "secret-c[REDACTED", "d": "x-[RED-x", "e": "er42]]x"}


@settings(max_examples=2 * EXAMPLES)
@given(
    st.lists(
        st.sampled_from(
            [*AWKWARD.values(), "hunter42", "secret-b", "secret-c", "[", "]", "REDACTED", ":", "x"]
        ),
        max_size=8,
    ).map("".join)
)
def test_twice_is_once_whatever_brackets_the_values_have(text: str) -> None:
    t = LiteralRedactor(AWKWARD)
    once = t.scrub(text)
    assert t.scrub(once) == once
    for chunks in random_cuts(text, n=3):
        assert streamed(t, chunks)[0] == once


def test_a_bracket_at_the_edge_of_a_value_is_left() -> None:
    t = LiteralRedactor({"a": "]hunter42[["})
    assert t.scrub("]hunter42[[") == f"][REDACTED:a:{digest(']hunter42[[')}][["
    assert LiteralRedactor({"a": "hun[ter]42"}).scrub("hun[ter]42").startswith("[REDACTED:a:")


def test_an_encoding_that_could_match_inside_a_placeholder_is_left_out() -> None:
    def mark(rule: str, digest: str) -> str:
        return f"<{rule} {b'hunter42'.hex()}>"

    t = LiteralRedactor({"a": "hunter42"}, encodings=["hex"], placeholder=mark)
    once = t.scrub(f"hunter42 {b'hunter42'.hex()}")
    assert once == f"{mark('a', '')} {b'hunter42'.hex()}"
    assert t.scrub(once) == once


def test_a_value_with_a_placeholder_of_its_own_making_in_it_is_refused() -> None:
    with pytest.raises(ValueError, match="'a' could match inside a placeholder"):
        LiteralRedactor({"a": "one <b> two", "b": "hunter42"}, placeholder=_named)


def test_a_placeholder_may_be_empty() -> None:
    def nothing(rule: str, digest: str) -> str:
        return ""

    assert LiteralRedactor({"a": "hunter42"}, placeholder=nothing).scrub("a hunter42 b") == "a  b"


@pytest.mark.parametrize("placeholder", [None, _named, _same])
def test_the_laws(placeholder: Callable[[str, str], str] | None) -> None:
    values = {"A_KEY": "hunter42", "B_KEY": "hunter42/more", "C_KEY": "nter42hunter"}
    t = LiteralRedactor(values, placeholder=placeholder)
    check_transformer(
        t,
        ["hunter42", "a hunter42/mor", "hunter42hunter42/more", "%68%75%6e%74%65%72%34%32", "hunter42%2Fmo"],
        clean=["hunted", "nothing to see", "hunter 42 [REDACTED:a-key:01234567]"],
        samples=8,
    )


@pytest.mark.parametrize(
    "text", ["a hunter42/more", "hunter42\\/mor", "aHVudGVyNDI=", "%68%75%6e%74%65%72%34%32"]
)
def test_the_encodings_hold_no_more_than_they_must(text: str) -> None:
    values = {"a": "hunter42", "b": "hunter42/more"}
    t = LiteralRedactor(values, placeholder=_named)
    spelled = [form for value in values.values() for _, form in _forms(value)]
    check_minimal(t, text, "h=%6?", depth=2, continuations=suffixes(*spelled), atomic="<[ab]>")


@pytest.mark.parametrize(
    "unit",
    [
        "a",
        "ab",
        "a" * 39 + "c",
        "hunter4",
        "%68%75",
        "hunter42",
        "prose without any of them. ",
        "\n",
        "a\n",
        "aHVudGVy\n",
    ],
)
def test_the_work_grows_as_the_text_does(unit: str) -> None:
    t = LiteralRedactor({"a": "a" * 40 + "b", "b": "ab" * 20 + "a", "c": "hunter42", "d": "a" * 400 + "d"})
    check_linear(t, lambda size: unit * (size // len(unit)), sizes=(2000, 6000))


def test_before_a_redactor_its_placeholders_are_left_alone() -> None:
    t = LiteralRedactor({"OPENAI_API_KEY": "sk-proj-0123456789Canary0123456789"}) | Redactor()
    out = t.scrub("key = sk-proj-0123456789Canary0123456789")
    assert out == f"key = [REDACTED:openai-api-key:{digest('sk-proj-0123456789Canary0123456789')}]"
    assert t.scrub(out) == out
