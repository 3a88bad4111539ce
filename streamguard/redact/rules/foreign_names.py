r"""Values after the names of secrets in other languages than English.

Models answer in the language of the question: `Пароль: ...`, `密码是...`, `mot de passe : ...`.
The names are telling literals, most of them never part of a program. Chinese, Japanese and
Korean put no space before what follows; their short names count with the sign that follows.
"""

from __future__ import annotations

import re

from streamguard.redact.checks import literal, mixed, said, secret_shaped, setting
from streamguard.redact.rule import Rule

__all__ = ["FOREIGN"]

# One name to a word, with ~ for a space or an underscore.
_WESTERN = """
    парол[а-я]* секретн[а-я]{2}~ключ[а-я]* секрет токен[а-я]*~доступа ключ[а-я]*~(?:API|доступа|шифрования)
    API[-~]ключ кодовая~фраза ПАРОЛЬ СЕКРЕТ
    passwort kennwort geheimnis API-schlüssel API-Schlüssel zugriffsschlüssel zugriffstoken PASSWORT KENNWORT
    mot~de~passe motdepasse mdp phrase~secrète MOT~DE~PASSE motDePasse clé~API clé~secrète
    clé~d['’](?:API|accès) jeton~d['’]accès MDP
    contraseña contrasena clave~(?:de~)?API clave~secreta clave~de~acceso token~de~acceso CONTRASEÑA
    clave_api claveApi claveSecreta CLAVE_API CLAVE_SECRETA CONTRASENA
    senha palavra-passe chave~(?:de~)?API chave~secreta chave~de~acesso token~de~acesso SENHA
    wachtwoord hasło
"""
_LONG = (
    "パスワード",
    "シークレット",
    "秘密鍵",
    "APIキー",
    "アクセスキー",
    "비밀번호",
    "비밀[ ]?키",
    "API[ ]?키",
)
_SHORT = ("密码", "密碼", "口令", "密钥", "密鑰", "秘钥", "令牌", "암호")


def _either(names: str) -> list[str]:
    """Names with a small and with a capital first letter."""
    words = [name.replace("~", "[ _]") for name in names.split()]
    return list(dict.fromkeys(form for word in words for form in (word, word[0].upper() + word[1:])))


_SPACE = "[ \\t\u00a0\u202f]*"
_SIGN = "(?:[:：=]|[ \u00a0\u202f][:：=]|[\"'][:：]|[*]{2}[:：]|[:：][*]{2})"
_IS = r"(?:ist|lautet|est|es|é|это|—|–|-|is):?"
_WEAK = [*_either("токен ключ schlüssel jeton clé clave chave"), "トークン", "토큰"]
_BECAME = "(?:是|为|為|(?:已设置|设置|設定|設置|已改|修改|改|已重置|重置)[为為成])"
_OF = r"(?:[ ][^\W\d_]+){0,2}"  # mot de passe de Marie, пароль от базы
_OPEN = r"""["'`«„“‘「『]"""
_STOP = r"""\s"'`,;()\[\]{}<>|&\\，。；、！？（）「」『』«»„“”‘’*"""
_IDEOGRAPHS = r"\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"  # right after a value they end it nowhere: a text
_NAMES = rf"(?:(?:{'|'.join(_either(_WESTERN))}){_OF}|{'|'.join(_LONG)})"
_EASTERN = "|".join([*_LONG, *_SHORT])
_NAMED = "|".join([rf"{_NAMES}{_SIGN}", *(name + _SIGN for name in _SHORT)])
_TOLD = "|".join(
    [
        rf"(?:{'|'.join(_either(_WESTERN))}){_OF}[ ]{_IS}[ ]",
        *(rf"{name}(?:は|는|은)[ ]?" for name in _LONG),
        *(rf"{name}(?:{_BECAME}|은|는)[:：]?[ ]?" for name in _SHORT),
    ]
)

_ANCHORS = tuple(dict.fromkeys(re.split(r"[\[(]", name)[0] for name in (*_either(_WESTERN), *_LONG, *_SHORT)))

FOREIGN = (
    Rule(
        "foreign-literal",
        context=rf"(?:(?:{_NAMED})[=>]?[*]{{0,2}}{_SPACE}{_OPEN}{_SPACE}|(?:{_EASTERN})[「『])",
        value=r"""[^\s"'`«»“”„「」『』\\]{4,}(?=["'`»“”」』\\\u00a0\u202f]|\Z)""",
        anchors=_ANCHORS,
        checks=(literal,),
        description="A quoted value of a password, a secret or an API key, in another language",
        source="names in Russian, German, French, Spanish, Portuguese, Chinese, Japanese, Korean",
        examples=(
            '{"пароль": "canarycanary"}',
            "Passwort: „canarycanary“",
            "mot de passe\u00a0: «\u00a0canarycanary\u00a0»",
            "密码：「canarycanary」",
            '"密碼": "canarycanary"',
            'contraseña = "canarycanary"',
            "senha => 'canarycanary'",
            "パスワード：「canarycanary」",
            "密码「canarycanary」",
            "mot_de_passe='canarycanary'",
            'motDePasse: "canarycanary"',
        ),
        near_misses=(
            '"пароль": "Введите пароль"',
            '"密码": "请输入密码"',
            '"Passwort": "Passwort"',
            "Passwort: „falsch-eingegeben ist es“",
            'contraseña = "${CONTRASENA}"',
        ),
    ),
    Rule(
        "foreign-setting",
        # What is set apart inside its quotes may be a text, of which this would be the first word.
        context=rf"(?:{_NAMED})[=>]?[*]{{0,2}}{_SPACE}(?:«[ ])?",
        value=rf"[^{_STOP}{_IDEOGRAPHS}=:][^{_STOP}{_IDEOGRAPHS}]{{2,}}[^{_STOP}{_IDEOGRAPHS}.:!?](?=[{_STOP}.!?]|\Z)",
        anchors=_ANCHORS,
        checks=(setting,),
        description="An unquoted value of a password, a secret or an API key, in another language",
        source="names in Russian, German, French, Spanish, Portuguese, Chinese, Japanese, Korean",
        examples=(
            "Пароль от базы: canary0123, логин: admin",
            "**Ключ API:** canary-0123",
            "Das neue Passwort: canary0123.",
            "Mot de passe : canary0123",
            "clé API: canary-0123",
            "Contraseña: canary0123",
            "Sua senha: canary0123",
            "数据库密码：canary0123，请保存",
            "口令=canary0123",
            "密钥: canary-0123",
            "비밀번호: canary0123",
            "MOT DE PASSE : canary0123",
            "clave_api=canary0123",
            "clave_secreta=canary0123",
            "mot de passe : « canary0123 »",
        ),
        near_misses=(
            "Пароль: обязателен",
            "пароль: не менее 8 символов",
            "Passwort: erforderlich",
            "mot de passe : obligatoire",
            "mot de passe : « votre mot de passe »",
            "mot_de_passe=mot_de_passe",
            "密码「未设置」",
            "contraseña: obligatoria",
            "密码：必填",
            "密码：8-16位字符",
            "Пароль: ${DB_PASSWORD}",
            "senha: <sua-senha>",
        ),
    ),
    Rule(
        "foreign-said",
        context=rf"(?:{_TOLD})[*]{{0,2}}(?:{_OPEN})?",
        value=rf"[^{_STOP}{_IDEOGRAPHS}=:][^{_STOP}{_IDEOGRAPHS}]{{4,}}[^{_STOP}{_IDEOGRAPHS}.:!?](?=[{_STOP}.!?]|\Z)",
        anchors=_ANCHORS,
        checks=(said,),
        description="A password, a secret or a key that a sentence names, in another language",
        source="sentences in Russian, German, French, Spanish, Portuguese, Chinese, Japanese, Korean",
        examples=(
            "Ваш пароль — canary0123.",
            "пароль это canary0123",
            "Das Passwort lautet canary0123.",
            "Le mot de passe est `canary0123`.",
            "La contraseña es canary0123",
            "A senha é **canary0123**",
            "您的密码是canary0123，请保存",
            "密码已重置为 canary0123",
            "パスワードはcanary0123",
        ),
        near_misses=(
            "das Passwort ist falsch",
            "пароль обязателен",
            "Пароль — это строка",
            "le mot de passe est obligatoire",
            "la contraseña es incorrecta",
            "a senha é obrigatória",
            "密码是必填的",
            "密码是 base64 编码",
            "パスワードは必須です",
        ),
    ),
    Rule(
        "foreign-short",
        context=rf"(?<![A-Za-z])(?:(?:[cC]lave|CLAVE){_SIGN})[=>]?[*]{{0,2}}{_SPACE}(?:{_OPEN})?",
        value=rf"[^{_STOP}=:][^{_STOP}]{{4,}}[^{_STOP}.:!?](?=[{_STOP}.!?]|\Z)",
        anchors=("clave", "Clave", "CLAVE"),
        checks=(mixed,),
        description="A value with letters among digits after a word that is a key as well as a password",
        source="the name in Spanish",
        examples=("clave: canary0x7y2", "**Clave:** canary0x7y2", '"clave": "canary0x7y2"'),
        near_misses=("clave: valor1", '{"clave": "valor", "otra_clave": 2}', "clave: identificador2"),
    ),
    Rule(
        "foreign-token",
        context=rf"(?:{'|'.join(name + _SIGN for name in _WEAK)})[*]{{0,2}}{_SPACE}(?:{_OPEN})?",
        value=rf"[^{_STOP}]{{15,}}[^{_STOP}.](?=[{_STOP}.]|\Z)",
        anchors=tuple(_WEAK),
        checks=(secret_shaped,),
        description="A random-looking value of a token or a key, in another language",
        source="names in Russian, German, French, Spanish, Portuguese, Japanese, Korean",
        examples=(
            "Токен: canary0123ary4567abcd",
            "clave: canary0123ary4567abcd",
            "Schlüssel = canary0123ary4567abcd",
            '"clé": "canary0123ary4567abcd"',
            "トークン：canary0123ary4567abcd",
        ),
        near_misses=(
            "clave: valor",
            "ключ: 550e8400-e29b-41d4-a716-446655440000",
            "clé: identifiant-de-la-personne",
            "Токен: не указан",
        ),
    ),
)
