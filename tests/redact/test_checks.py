"""What the checks let through and what they refuse."""

from __future__ import annotations

import base64
import inspect
import zlib
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamguard.redact import checks

ALPHANUMERIC = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
RANDOM = [
    "3fea6af1349166ea",
    "opaqueValue123456789",
    "tok-9f8e7d6c5b4a3f2e",
    "Xk29sLq0PzR7vB3nM1wE",
    "abcd1234abcd1234abcd1234ABCD1234ABCD1234--__",
]
WORDS = ["identity-token-of-bailu", "ctrl+shift+down", "SalesResults-1.2", "DOC_Vector_5_32", "correct horse"]


# -- one property -------------------------------------------------------------------


@given(st.text(min_size=1))
def test_entropy_lies_between_none_and_the_most_possible(value: str) -> None:
    assert 0 <= checks.entropy(value) <= len(value)
    assert checks.entropy(value * 2) == pytest.approx(checks.entropy(value))


@given(st.text(min_size=1), st.randoms())
def test_entropy_does_not_depend_on_the_order(value: str, random: object) -> None:
    assert checks.entropy("".join(sorted(value))) == pytest.approx(checks.entropy(value))


def test_entropy_of_known_values() -> None:
    assert checks.entropy("") == 0
    assert checks.entropy("aaaa") == 0
    assert checks.entropy("abcd") == 2


@pytest.mark.parametrize("value", RANDOM)
def test_random_values_look_it(value: str) -> None:
    assert checks.random_looking(value)


@pytest.mark.parametrize(
    "value", [*WORDS, "", "a", "1234567890123456", "aaaaaaaaaaaaaaaa1", "v1.2.3-beta.4567"]
)
def test_words_and_numbers_do_not_look_random(value: str) -> None:
    assert not checks.random_looking(value)


@pytest.mark.parametrize(
    "value", ["****", "ab****", "abc...", "xxxx", "sk-XXXXXXXX", "••••••", "____", "aaaa", "abab"]
)
def test_masked_values(value: str) -> None:
    assert checks.is_masked(value)
    assert not checks.genuine(value)
    assert not checks.literal(value)


def test_a_documented_example_is_not_genuine() -> None:
    assert not checks.genuine("AKIA" + "IOSFODNN7EXAMPLE")
    assert checks.genuine("AKIA" + "CANARY12" * 2)


@pytest.mark.parametrize(
    "value",
    [
        "sample-api-key",
        "your-example-key-here",
        "dummy_token_abc123",
        "example-key-1234567890",
        "sk-ab12...wxyz",
        "xoxb-xxxx-xxxx",
        "AKIA************CDEF",
        "redacted",
        "[REDACTED:jwt:0a1b2c3d]",
        "AKIAI44QH8DHB" + "EXAMPLE",
    ],
)
def test_a_word_or_a_mask_stands_for_a_value(value: str) -> None:
    assert not checks.genuine(value)
    assert not checks.literal(value)


@pytest.mark.parametrize(
    "value",
    [
        "Xk9-sample-77qLmT2p",
        "Xk9----77qLmT2p",
        "Xk9xxxx77qLmT2p",
        "Xk9...77qLmT2p",
        "redacted-9fK2mmQ1zP",
        "9fK2mmQ1-example",
        "Kq92mTz7####Lw3x",
    ],
)
def test_a_word_or_a_mask_in_a_password_is_part_of_it(value: str) -> None:
    assert checks.genuine(value)
    assert checks.literal(value)
    assert checks.setting(value)


@pytest.mark.parametrize(
    "value",
    [
        "password",
        "your-api-key",
        "YOUR_API_KEY",
        "your-elastic-key",
        "changeme",
        "change-me",
        "test",
        "test-key-123",
        "<key>",
        "my_secret",
        "fake-token",
        "none",
        "apiKey",
        "enter your key",
        "INSERT_TOKEN",
        "somefakekey",
        "FOOBARSECRET",
        "yourapikey",
        "",
    ],
)
def test_words_that_stand_for_a_value(value: str) -> None:
    assert checks.is_placeholder(value)


@pytest.mark.parametrize(
    "value",
    [
        "hunter2",
        "password123",
        "letmein",
        "supersecret",
        "rootpassword",
        "yourmother",
        "12345678",
        "correcthorse",
    ],
)
def test_words_that_people_use(value: str) -> None:
    assert not checks.is_placeholder(value)


@pytest.mark.parametrize(
    "value",
    [
        "${TOKEN}",
        "${{ secrets.TOKEN }}",
        "$TOKEN",
        "$(cat /run/secret)",
        "{{ x }}",
        "{{x.y}}",
        "<your-key>",
        "%TOKEN%",
        "{token}",
        "{0}",
        "{self.token!r}",
        "%(password)s",
        "<%= ENV['x'] %>",
        "#{token}",
        "@TOKEN@",
        "%s:%s",
        "${A:-${B}}",
        "{{ x | default({}) }}",
        "${env:default(x)[0]}",
        "prefix-${X}",
        "Bearer-{token}",
    ],
)
def test_templates(value: str) -> None:
    assert checks.is_template(value)
    assert not checks.literal(value)


@pytest.mark.parametrize(
    "value",
    [
        "hunter2",
        "a$b",
        "100%",
        "p@ss",
        "p@$sword9!Kq",
        "m{{h}o)p${e]nob(ody[x}}",
        "hunter2${X}",
        "$A3ae68d9f8ccfc898ee2555a5f8f228b9",
        "x9k2m4p8q1z7w3v5${y}",
    ],
)
def test_what_is_no_template(value: str) -> None:
    assert not checks.is_template(value)


@pytest.mark.parametrize(
    "value",
    [
        "/etc/ssl/private/key.pem",
        "./key",
        "~/.ssh/id_rsa",
        "../certs/a.key",
        "C:\\keys\\a",
        "certs/server.crt",
        "https://vault.example.com/v1/x",
        "arn:aws:secretsmanager:eu:1:secret:x",
        "vault:secret/data/app#key",
        "op://vault/item/field",
        "env:TOKEN",
        "/data",
        "os.environ/OPENAI_API_KEY",
    ],
)
def test_references(value: str) -> None:
    assert checks.is_reference(value)
    assert not checks.literal(value)


@pytest.mark.parametrize(
    "value",
    [
        "config.api_key",
        'os.environ["X"]',
        "process.env.X",
        "self.password",
        "getpass()",
        "os.getenv('X')",
        "None",
        "null",
        "true",
        "NaN",
        "123",
        "-1.5",
        "0x1F",
        "3600s",
        "1_000",
        "password",
        "apiKey",
        "API_KEY",
        "token1",
        "arg_2",
        "my_secret2",
        "settings::KEY",
        "obj->key",
        "a?.b",
        "&password",
        "*secret",
        "!vault",
        "X25519.secret",
        "user_input[CONF]",
        "println!(x)",
        "mlkem.MLKEM768PrivateKey",
        "x25519.X25519PublicKey",
        "4.25.17.post20241105",
        "v1.2.3-beta.4567",
        "26]=",
    ],
)
def test_code(value: str) -> None:
    assert checks.is_code(value)
    assert not checks.setting(value)
    assert not checks.token(value)


@pytest.mark.parametrize(
    "value",
    ["hunter2", "Fake-1234", "p@ssw0rd!", "s3cr3t", "Abc123Def456Ghi789", "a1b2.Xk29sLq0PzR7vB3nM1wE"],
)
def test_what_is_no_code(value: str) -> None:
    assert not checks.is_code(value)


@given(
    st.text(alphabet=ALPHANUMERIC, min_size=30, max_size=30), st.sampled_from(["ghp", "gho", "ghs", "npm"])
)
def test_a_right_checksum_is_known(body: str, prefix: str) -> None:
    left, tail = zlib.crc32(body.encode()), ""
    while left:
        left, digit = divmod(left, 62)
        tail = ALPHANUMERIC[digit] + tail
    token = f"{prefix}_{body}{tail.rjust(6, '0')}"
    assert checks.checksummed(token)
    assert checks.secret_shaped(token)
    wrong = token[:-1] + ("0" if token[-1] != "0" else "1")
    assert not checks.checksummed(wrong)
    assert not checks.checksummed(token + "0")


@given(
    st.text(st.characters(categories=["L", "N", "P"], exclude_characters=":")), st.text("abc:é!", min_size=1)
)
def test_basic_credentials_are_known(user: str, password: str) -> None:
    value = base64.b64encode(f"{user}:{password}".encode()).decode()
    assert checks.basic_credentials(value)
    assert checks.basic_credentials(value.rstrip("="))


@pytest.mark.parametrize(
    "value", ["authentication", "Understanding", "c29tZXRoaW5n", "dXNlcjo=", "/w==", "AAAA:AAA"]
)
def test_what_is_no_basic_credentials(value: str) -> None:
    assert not checks.basic_credentials(value)


@given(st.text(st.characters(categories=["L", "N", "P"]), min_size=1))
def test_base64_of_a_text_is_known(text: str) -> None:
    assert checks.base64_text(base64.b64encode(text.encode()).decode())
    assert checks.base64_text(base64.b64encode(f"{text}\n".encode()).decode())
    assert checks.base64_text(base64.b64encode(text.encode()).decode() + "'\n  second: '/w==")


@pytest.mark.parametrize("value", ["", "information", "password", "standard", "/w==", "YWJj;", "first: /w=="])
def test_what_is_no_base64_of_a_text(value: str) -> None:
    assert not checks.base64_text(value)


# -- put together -------------------------------------------------------------------


@pytest.mark.parametrize("value", RANDOM)
def test_a_random_value_is_a_secret_everywhere(value: str) -> None:
    for check in (
        checks.opaque,
        checks.secret_shaped,
        checks.token,
        checks.literal,
        checks.variable,
        checks.setting,
        checks.uri_password,
        checks.said,
    ):
        assert check(value), check


@pytest.mark.parametrize(
    "value", [*WORDS, "CPU", "bailu", "550e8400-e29b-41d4-a716-446655440000", "getToken2"]
)
def test_a_weak_name_needs_more_than_that(value: str) -> None:
    assert not checks.secret_shaped(value)


@pytest.mark.parametrize(
    "value", ["hunter2", "letmein", "12345678", "l0l-1kr", "RAW(kx#2+c7a)", "f$g W-68 *z9 Xk9!"]
)
def test_a_literal_may_be_any_word(value: str) -> None:
    assert checks.literal(value)


def test_a_sentence_names_a_value_with_a_digit() -> None:
    assert checks.said("canary0123")
    for value in ("required", "base64-encoded", "HMAC-SHA256", "x1", "8-12", "config1.yaml"):
        assert not checks.said(value), value


def test_a_key_of_a_service_is_a_uuid_or_random() -> None:
    for value in (
        "550e8400-e29b-41d4-a716-446655440000",
        "6koe5izlxagetko",
        "00550845614856064871687544244254",
    ):
        assert checks.vendor_key(value), value
    for value in (
        "1234567890123456789",
        "7.112.0-rc.1",
        "00000000-0000-0000-0000-000000000000",
        "my-app-on-24",
    ):
        assert not checks.vendor_key(value), value


@pytest.mark.parametrize(
    "value", ["s?.type===t.kind", "e.auth_key??null", "y:s.username+=y", "a=>b.c", "x||y"]
)
def test_names_on_both_sides_of_an_operator_are_code(value: str) -> None:
    assert not checks.setting(value)


@pytest.mark.parametrize(
    "value", ["abc/Kq92mTz7+Lw3x", "/GNvEGgEXY9BS/YNvE1sdf.YNvEGXEXY9BS", "Xk9=9Kq!", "a==b9!K"]
)
def test_base64_and_symbols_are_no_code(value: str) -> None:
    assert not checks.is_reference(value)
    assert checks.literal(value)


@pytest.mark.parametrize(
    "value",
    ["8-20", "10-digit", "256-bit", "32-char", "Auto-generated", "one-time", "utf8mb4-encoded", "read-only,"],
)
def test_the_length_of_a_value_or_how_it_came_about_is_no_value(value: str) -> None:
    assert not checks.setting(value)
    assert not checks.said(value)


@pytest.mark.parametrize(
    "value", ["8-20x9", "2024-blue", "hunter2-time", "k9x2m-generated", "auto-generated7", "canary0123-only"]
)
def test_what_only_begins_or_ends_like_that_is_one(value: str) -> None:
    assert checks.setting(value)


@pytest.mark.parametrize(
    "value",
    ["GEMINI_API_KEY", "REFRESH_TOKEN", "S3_SECRET_2", "DB_PASSWORD_FILE", "+pw1+", "+ user.pw +", ". pw1 ."],
)
def test_a_literal_is_not_the_name_of_a_variable(value: str) -> None:
    assert not checks.literal(value)
    assert not checks.variable(value)


@pytest.mark.parametrize("value", ["HUNTER2_RED_FOX", "S3CR3T_KEY", "Blue_KEY", "+pw1-9", "KEY_TO_THE_DOOR"])
def test_what_is_like_one_may_be_a_literal(value: str) -> None:
    assert checks.literal(value)


@pytest.mark.parametrize("value", ["CrtSigV4AsymAuth", "X25519PrivateKeyLoader"])
def test_the_name_of_a_class_is_no_secret_after_a_weak_name(value: str) -> None:
    assert not checks.secret_shaped(value)


@pytest.mark.parametrize(
    "value",
    [
        "scram-sha-256",
        "aes-256-gcm",
        "rsa-sha256",
        "my-tls-cert",
        "my-release-postgresql-1",
        "app-secrets",
    ],
)
def test_a_method_or_an_object_of_a_cluster_is_no_secret(value: str) -> None:
    assert not checks.literal(value)


@pytest.mark.parametrize("value", ["my-dog-rex", "blue-horse-tls9x", "aes-horse", "sha-9k"])
def test_what_only_looks_like_one_may_be_a_secret(value: str) -> None:
    assert checks.literal(value)


@pytest.mark.parametrize("value", ["a:dict", "g:plugin#login.password1", "confirm_password:", "id=x,src=y9"])
def test_more_code_is_no_setting(value: str) -> None:
    assert not checks.setting(value)


def test_what_only_begins_like_code_is_a_setting() -> None:
    for value in ("a:hunter2", "z:word9k", "identity=k9"):
        assert checks.setting(value), value


def test_a_literal_is_not_a_text_without_spaces() -> None:
    assert not checks.literal("PassWordMustBeAtLeast6Chars.")
    assert checks.literal("CorrectHorseBatteryStaple")


@pytest.mark.parametrize(
    "value",
    ["The password is wrong", "Enter a password with 8 characters", ",.:-", ")[1];", "form.password.label"],
)
def test_a_literal_is_not_a_text(value: str) -> None:
    assert not checks.literal(value)


def test_a_variable_may_be_a_word_and_a_setting_may_not() -> None:
    assert checks.variable("bailu")
    assert not checks.setting("bailu")
    assert not checks.variable("OTHER_KEY")
    assert checks.setting("bailu7!")


@pytest.mark.parametrize("check", [checks.variable, checks.setting])
def test_short_numbers_are_numbers(check: Callable[[str], bool]) -> None:
    assert not check("64")
    assert not check("3600")
    assert check("12345678")


@pytest.mark.parametrize(
    "value", ["8080", "27017", "6379/0?x=a", "3000?to=bob", "password", "${PASS}", "<password>", "***"]
)
def test_what_stands_after_a_colon_and_is_no_password(value: str) -> None:
    assert not checks.uri_password(value)


def test_a_cookie_is_no_uuid() -> None:
    assert checks.cookie("canary0123ary4567")
    assert checks.cookie("s%3ACanary12.abcd5678")
    assert not checks.cookie("550e8400-e29b-41d4-a716-446655440000")
    assert not checks.cookie("the_session_identifier")


def test_the_name_of_an_algorithm_is_no_setting() -> None:
    for value in ("base64", "sha256", "oauth2"):
        assert not checks.setting(value), value
    assert checks.setting("s12345")


def test_a_right_checksum_settles_it() -> None:
    body = "ATATT3" + "a" * 60
    assert checks.opaque(f"{body}{zlib.crc32(body.encode()):08X}")
    assert not checks.opaque(body + "AAAAAAAA")


def test_a_key_of_base64_has_every_kind_of_character() -> None:
    assert checks.base64_key("Canary+/0123456789abcdefghijklMNOPQRSTUV")
    assert not checks.base64_key("4b825dc642cb6eb9a060e54bf8d69288fbee4904")
    assert not checks.base64_key("wJalrXUtnFEMI/K7MDENG/" + "bPxRfiCYEXAMPLEKEY")


@given(st.text())
def test_a_check_answers_whatever_the_value(value: str) -> None:
    for name in checks.__all__:
        check = getattr(checks, name)
        if name != "entropy":
            assert check(value) in {True, False}, name


def test_every_check_says_what_it_asks() -> None:
    for name in checks.__all__:
        assert inspect.getdoc(getattr(checks, name)), name


def test_after_a_short_name_letters_and_digits_stand_in_one_word() -> None:
    for value in ("hunter2", "canary-12b"):
        assert checks.chosen(value), value
    for value in ("2024-01-01", "letmein", "120ms", "stage_2", "v1.2.3"):
        assert not checks.chosen(value), value


def test_after_a_name_of_keys_digits_stand_among_letters() -> None:
    assert checks.mixed("k9x2m7")
    for value in ("valor1", "identificador2", "canary0123", "hunter22"):
        assert not checks.mixed(value), value


def test_a_password_with_a_slash_has_a_digit_on_the_web() -> None:
    for value in ("secretword", "a/Kx92mz7"):
        assert checks.web_password(value), value
    for value in ("8080/path", "port/path", "{port}/users/", "password"):
        assert not checks.web_password(value), value
