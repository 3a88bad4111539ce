from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import pytest

from streamguard import MEMORY, SECRETS, FenceScrubber, Finding, PreambleTrimmer, Redactor, Transformer
from streamguard.cli.jsonl import Pointer, guard_jsonl, parse_pointer

MakeMask = Callable[[str, str], Transformer]


class Run:
    """Guards `data` with SECRET masked as *, and counts the lines that were no JSON."""

    def __init__(self, mask: MakeMask) -> None:
        self.guard = mask("SECRET", "*")
        self.plain = 0
        self.findings: list[Finding] = []

    def __call__(self, *chunks: bytes, at: Sequence[str] = ("",)) -> bytes:
        pointers: list[Pointer] = [parse_pointer(pointer) for pointer in at]
        return b"".join(
            guard_jsonl(chunks, self.guard, pointers, on_finding=self.findings.append, on_plain=self.count)
        )

    def count(self) -> None:
        self.plain += 1


@pytest.fixture
def run(mask: MakeMask) -> Run:
    return Run(mask)


def test_only_the_string_at_the_pointer_changes(run: Run) -> None:
    line = (
        b'{ "a":"SECRET" , "message" : {"content":"my SECRET","n": 1.50e+3}, "a": "SECRET", "big": 1%s }\r\n'
    )
    line %= b"0" * 5000
    assert run(line, at=["/message/content"]) == line.replace(b'"my SECRET"', b'"my *"')
    assert run(line, at=["/a"]) == line.replace(b'"SECRET"', b'"*"')
    assert run.plain == 0


def test_unchanged_records_keep_every_byte(run: Run) -> None:
    line = b'\xef\xbb\xbf {"\\u0061": "\\u00e9\\/\\ud83d\\ude00 \xc3\xa9 \xff \\ud800", "t":"\ttab"} \t\n'
    assert run(line) == line


def test_every_string_value_is_guarded_where_no_pointer_narrows_it(run: Run) -> None:
    assert run(b'["SECRET", {"SECRET": ["SECRET", null, true]}, "x"]\n') == (
        b'["*", {"SECRET": ["*", null, true]}, "x"]\n'
    )
    assert run(b'"SECRET"') == b'"*"'


@pytest.mark.parametrize(
    ("pointer", "wanted"),
    [
        ("/messages/1/content", b'{"messages":[{"content":"SECRET"},{"content":"*","id":"SECRET"}]}'),
        ("/messages/*/content", b'{"messages":[{"content":"*"},{"content":"*","id":"SECRET"}]}'),
        ("/messages/1", b'{"messages":[{"content":"SECRET"},{"content":"*","id":"*"}]}'),
        ("/messages", b'{"messages":[{"content":"*"},{"content":"*","id":"*"}]}'),
        ("/messages/01/content", b'{"messages":[{"content":"SECRET"},{"content":"SECRET","id":"SECRET"}]}'),
        ("/nowhere", b'{"messages":[{"content":"SECRET"},{"content":"SECRET","id":"SECRET"}]}'),
    ],
)
def test_pointers(run: Run, pointer: str, wanted: bytes) -> None:
    assert (
        run(b'{"messages":[{"content":"SECRET"},{"content":"SECRET","id":"SECRET"}]}', at=[pointer]) == wanted
    )


def test_pointers_unescape_names(run: Run) -> None:
    record = b'{"a/b":{"m~n":{"":"SECRET"}}, "a":{"b":"SECRET"}}'
    assert run(record, at=["/a~1b/m~0n/"]) == record.replace(b'"":"SECRET"', b'"":"*"')
    assert run(b'{"\\u0061": "SECRET"}', at=["/a"]) == b'{"\\u0061": "*"}'


@pytest.mark.parametrize("wrong", ["a", "a/b", "#/a", "/a~2", "/a~"])
def test_what_is_no_pointer_is_refused(wrong: str) -> None:
    with pytest.raises(ValueError, match="JSON pointer"):
        parse_pointer(wrong)


def test_a_changed_string_is_written_the_way_it_was(run: Run) -> None:
    assert run('"é SECRET 🙂"'.encode()) == '"é * 🙂"'.encode()
    assert run(b'"\\u00e9 SECRET \\n \\ud83d\\ude42"') == b'"\\u00e9 * \\n \\ud83d\\ude42"'


def test_broken_bytes_and_lone_surrogates_survive_a_change(run: Run) -> None:
    assert run(b'"\xff SECRET \\ud800 \xe4"') == b'"\xff * \\ud800 \xe4"'
    assert run(b'"SECRET \\udcff"') == b'"* \\udcff"'


def test_a_secret_spelt_in_escapes_is_found(run: Run) -> None:
    assert run(b'{"a": "S\\u0045CRET", "b": "SECRET\\u0021"}') == b'{"a": "*", "b": "*!"}'


def test_lines_that_are_no_json_are_guarded_as_plain_text_and_counted(run: Run) -> None:
    assert run(b'{"a": "SECRET"\nSECRET\r\n{"a": "SECRET"}\n\n \nSECR', b"ET") == (
        b'{"a": "*"\n*\r\n{"a": "*"}\n\n \n*'
    )
    assert run.plain == 3


def test_nesting_too_deep_to_parse_is_guarded_as_plain_text(run: Run) -> None:
    deep = b"[" * 200_000 + b'"SECRET"' + b"]" * 200_000
    assert run(deep) == deep.replace(b"SECRET", b"*")
    assert run.plain == 1


def test_the_result_does_not_depend_on_the_reads(run: Run) -> None:
    data = '{"a": "SECRET é"}\nno\n\n["SECRET"]'.encode()
    wanted = '{"a": "* é"}\nno\n\n["*"]'.encode()
    assert run(*(data[at : at + 1] for at in range(len(data)))) == wanted
    for at in range(len(data) + 1):
        assert run(data[:at], data[at:]) == wanted


def test_each_string_is_a_text_of_its_own(run: Run) -> None:
    assert run(b'["SEC", "RET"]\n') == b'["SEC", "RET"]\n'
    run(b'["xSECRET"]\n')
    assert [(found.offset, found.length) for found in run.findings] == [(1, 6)]


class Real(Run):
    """Guards with fences and redactor as the command does."""

    def __init__(self, *others: Transformer) -> None:
        self.guard = FenceScrubber(*MEMORY) | Redactor(SECRETS)
        for other in others:
            self.guard = self.guard | other
        self.plain = 0
        self.findings = []


BODY = b"MIIEowIBAAKCAQEA7bq2aSVW3cQxT9fKp0dR1uYz8wLmNvXcVbNmAsDfGhJkLqWe\n"
BEGIN, END = (b"-----%s RSA PRIVATE KEY-----\n" % word for word in (b"BEGIN", b"END"))


@pytest.mark.parametrize(
    "line",
    [
        b'{"db_password": "%s", "n": 1.50}\n',
        b'{"a": {"db_password" :["%s" , 1]} }\n',
        b'{"db_password": {"x": 1, "db_\\u0070assword": "%s"}}\n',
    ],
)
def test_a_string_is_guarded_behind_its_key(line: bytes) -> None:
    run = Real()
    done = run(line % b"correct-horse-9")
    before, after = line.split(b"%s")
    assert done.startswith(before + b"[REDACTED:secret-literal:")
    assert done.endswith(b"]" + after)
    assert [(found.rule, found.offset, found.length) for found in run.findings] == [("secret-literal", 0, 15)]
    assert Real()(done) == done


def test_a_string_without_a_telling_key_stays() -> None:
    line = b'{"word": "correct-horse-9", "db_password": {"word": ["correct-horse-9"]}}\n"correct-horse-9"\n'
    assert Real()(line) == line


@pytest.mark.parametrize("between", [b"", b"\n", b"12345678\n", b'{"a": 1}\n'])
def test_a_value_over_several_lines_does_not_come_out(between: bytes) -> None:
    record = b'{"b": 2}\n'
    for secret in (
        BEGIN + BODY * 3 + between + BODY * 3 + END,
        b"x <memory-context>\nAnna\n" + between + b"MIIE tea\n</memory-context>\n",
    ):
        data = record + secret + record
        done = Real()(data)
        assert b"MIIE" not in done
        assert b"Anna" not in done
        assert done.startswith(record)
        assert done.endswith(b"\n" + record)
        assert Real()(*(data[at : at + 1] for at in range(len(data)))) == done


def test_a_text_that_ends_open_hides_what_follows() -> None:
    assert Real()(b'a <memory-context>\n{"b": 2}\nx\n') == b"a \n"


def test_lines_that_are_no_json_come_at_once_and_end_before_a_record() -> None:
    run = Real(PreambleTrimmer())
    assert run(b'Done. Let me check the file.\n{"a": 1}\n') == b'Done.\n{"a": 1}\n'

    def source() -> Iterator[bytes]:
        yield b"one\n"
        assert shown == [b"one\n"]
        yield b'two\n{"a": 1}\n'

    shown: list[bytes] = []
    for piece in guard_jsonl(
        source(), Real().guard, [()], on_finding=run.findings.append, on_plain=run.count
    ):
        shown += [piece] if piece else []
    assert shown == [b"one\n", b"two\n", b'{"a": 1}\n']
