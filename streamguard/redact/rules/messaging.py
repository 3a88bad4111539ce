"""Keys of messaging and chat services."""

from __future__ import annotations

from streamguard.redact.checks import base64_key, random_looking
from streamguard.redact.rule import Rule
from streamguard.redact.rules.boundary import LEFT, STRICT_LEFT, UNMASKED

__all__ = ["MESSAGING"]

_DIGITS = "1234567890"
_CANARY = "Canary12" * 6
_UUID = "canary12-1234-4abc-8def-canary123456"
_MIXED = "Canary12" + "BdEfGh34JkLm56NpQr78StUvWx90zZ"

_FIRST_TWO = ("MT", "Mj", "Mz", "ND", "NT", "Nj", "Nz", "OD", "OT")
_FIRST_DIGITS = f"(?:{'|'.join(f'{two}[AEIMQUYcgk]' for two in _FIRST_TWO)})[w-z0-5]"
"""Base64 of three digits, written so that literals of three letters follow from it."""
_MORE_DIGITS = "[MNO][DTjz][AEIMQUYcgk][w-z0-5]"

MESSAGING = (
    Rule(
        "slack",
        value=(
            rf"{LEFT}(?:xox[abceoprs]-[0-9][A-Za-z0-9-]{{9,}}"
            rf"|xoxe\.xox[bp]-[0-9]-{UNMASKED}[A-Za-z0-9-]{{20,}}"
            r"|xoxd-[A-Za-z0-9%+/=_-]{40,}"
            r"|xapp-[0-9]-[A-Za-z0-9-]{20,})"
        ),
        anchors=("xox", "xapp-"),
        description="Slack bot, user, app, session and configuration tokens",
        source="Slack's documentation of token types",
        examples=(
            "xoxb-" + _DIGITS + "-" + _DIGITS + "-" + "Canary12" * 3,
            "token=xoxp-" + _DIGITS + "-canary&pretty=1",
            "xapp-1-" + "CANARY12-" * 3 + "canary",
            "xoxe.xoxp-1-" + "Canary12" * 8,
        ),
        near_misses=("xoxb-your-bot-token", "xoxo-", "xoxb-xxxxxxxxx-xxxxxxxxxx-xxxx", "2018-250-xoxo-1.jpg"),
    ),
    Rule(
        "slack-webhook",
        context=r"hooks\.slack\.com(?:/|\\/)(?:services|workflows|triggers)(?:/|\\/)",
        # Documented addresses begin with T000 or TXXX.
        value=(
            r"(?:(?!T)[A-Za-z0-9]|T(?![0X])|T[0X](?![0X])|T[0X][0X](?![0X]))"
            r"(?:[A-Za-z0-9+]|\\?/){28,}"
        ),
        anchors=("hooks.slack.com",),
        description="The secret part of a Slack webhook address",
        source="Slack's documentation of incoming webhooks",
        examples=("https://hooks.slack.com/services/" + "T0CANARY0/B0CANARY0/" + "Canary12" * 3 + " posts",),
        near_misses=(
            "https://hooks.slack.com/services/...",
            "https://hooks.slack.com/services/T00/B00/x",
            "https://hooks.slack.com/services/T00000000/B00000000/" + "X" * 24,
            "https://hooks.slack.com/services/TXXXXXXXX/BXXXXXXXX/" + "X" * 24,
        ),
    ),
    Rule(
        "discord-bot",
        context=rf"{LEFT}{_FIRST_DIGITS}(?:{_MORE_DIGITS}){{4}}[A-Za-z0-9]{{2,6}}={{0,2}}\.",
        value=r"[A-Za-z0-9_-]{5,7}\.[A-Za-z0-9_-]{24,}",
        description="Discord bot tokens, from the first dot on: before it stands the bot's id",
        source="Discord's documentation of authentication",
        anchors=("M", "N", "O"),
        examples=(
            "MTIzNDU2Nzg5MDEyMzQ1Njc4." + "GCanry." + _CANARY[:38],
            '"token": "OTk4NzY1NDMyMTAxMjM0NTY3OA.' + "GCanry." + _CANARY[:38] + '"',
        ),
        near_misses=(
            "MTIzNDU2Nzg5MDEyMzQ1Njc4",
            "MTIzNDU2Nzg5MDEyMzQ1Njc4.txt",
            "MTIzNDU2Nzg5.G12345." + "a" * 38,
        ),
    ),
    Rule(
        "discord-webhook",
        context=(r"discord(?:app)?\.com\\?/api(?:\\?/v[0-9]{1,2})?\\?/webhooks\\?/[0-9]{15,21}\\?/"),
        value=r"[A-Za-z0-9_-]{40,}",
        anchors=("discord",),
        description="The secret part of a Discord webhook address",
        source="Discord's documentation of webhooks",
        examples=("https://discord.com/api/webhooks/123456789012345678/" + "Canary-_" * 8 + "?wait=true",),
        near_misses=(
            "https://discord.com/api/webhooks/123456789012345678/{token}",
            "https://discord.com/api/webhooks/123456789012345678/short",
        ),
    ),
    Rule(
        "telegram-bot",
        value=r"(?<=[0-9]{6}:)AA[EFGH][A-Za-z0-9_-]{26,}",
        anchors=("AAE", "AAF", "AAG", "AAH"),
        description="Telegram bot tokens, from the colon on: what stands before it is the bot's id",
        source="Telegram's documentation of bots: an id, a colon, 35 characters",
        examples=(
            "110201543:AAH" + _CANARY[:32],
            "https://api.telegram.org/bot110201543:AAE" + _CANARY[:32] + "/getMe",
        ),
        near_misses=(
            "110201543:AAH",
            "12345:AAH" + _CANARY[:32],
            "10:30:AAF",
            "https://example.com:8080/AAE",
        ),
    ),
    Rule(
        "teams-webhook",
        context=r"webhook\.office\.com(?:/|\\/)webhookb2(?:/|\\/)",
        value=r"[A-Za-z0-9-]{20,}(?:(?:[@/]|\\/)[A-Za-z0-9_-]+)*",
        anchors=("webhook.office.com",),
        description="The secret part of a Microsoft Teams webhook address",
        source="Microsoft's documentation of incoming webhooks",
        examples=(
            "https://acme.webhook.office.com/webhookb2/canary12-1234-1234-1234-canary123456@canary12-1234-"
            "1234-1234-canary123456/IncomingWebhook/"
            + "canary12" * 4
            + "/canary12-1234-1234-1234-canary123456",
        ),
        near_misses=("https://acme.webhook.office.com/webhookb2/{id}", "https://outlook.office.com/webhook"),
    ),
    Rule(
        "sendgrid",
        value=rf"{LEFT}SG\.{UNMASKED}[A-Za-z0-9_-]{{16,32}}\.[A-Za-z0-9_-]{{16,}}",
        anchors=("SG.",),
        description="SendGrid API keys",
        source="SendGrid's documentation: SG., 22 characters, a dot, 43 characters",
        examples=(
            "SG." + _CANARY[:22] + "." + _CANARY[:43],
            "SENDGRID_API_KEY=SG." + _CANARY[:22] + "." + _CANARY,
        ),
        near_misses=("SG.com", "SG." + "x" * 22 + "." + "x" * 43, "MSG." + _CANARY[:22] + "." + _CANARY[:43]),
    ),
    Rule(
        "mailgun",
        value=rf"{STRICT_LEFT}key-[0-9a-z]{{32}}(?![A-Za-z0-9_-])",
        anchors=("key-",),
        checks=(random_looking,),
        description="Mailgun private API keys",
        source="Mailgun's documentation: key- and 32 hexadecimal digits",
        examples=("key-" + "canary12" * 4, "api:key-" + "canary12" * 4 + "\n"),
        near_misses=("key-value", "key-" + "x" * 32, "key-" + "canary12" * 5, "pubkey-" + "canary12" * 4),
    ),
    Rule(
        "twilio",
        value=rf"{LEFT}SK[0-9a-f][0-9a-z]{{31}}(?![A-Za-z0-9_-])",
        anchors=("SK",),
        checks=(random_looking,),
        description="Twilio API key ids",
        source="Twilio's documentation: SK and 32 hexadecimal digits; AC and 32 digits name an account only",
        examples=("SK" + "canary12" * 4, "TWILIO_API_KEY=SK" + "canary12" * 4 + "\n"),
        near_misses=("SK", "SK" + "x" * 32, "AC" + "canary12" * 4, "SK" + "canary12" * 5),
    ),
    Rule(
        "twilio-auth-token",
        context=r"""(?<![A-Za-z0-9_])AC[0-9a-f][0-9a-f]{31}\\?["'`]?[ ]?[:,;|]\s*\\?["'`]?""",
        value=r"[0-9a-f]{32}(?![A-Za-z0-9])",
        anchors=("AC",),
        checks=(random_looking,),
        description="Twilio auth tokens, right behind the id of their account",
        source="Twilio's documentation: 32 hexadecimal digits; how its libraries and curl take the two",
        examples=(
            'Client("AC' + "0123abcd" * 4 + '", "' + "ca0123ca4567" * 2 + '89abcdef")',
            "curl -u AC" + "0123abcd" * 4 + ":" + "ca0123ca4567" * 2 + "89abcdef",
        ),
        near_misses=(
            'Client("AC' + "0123abcd" * 4 + '", auth_token)',
            'Client("AC' + "0123abcd" * 4 + '", "your_auth_token")',
            "PAC" + "0123abcd" * 4 + ":" + "01234567" * 4,
        ),
    ),
    Rule(
        "brevo",
        value=rf"{LEFT}x(?:keysib|smtpsib)-{UNMASKED}[A-Za-z0-9]{{32,}}(?:-[A-Za-z0-9]+)?",
        anchors=("xkeysib-", "xsmtpsib-"),
        description="Brevo API and SMTP keys",
        source="Brevo's documentation: xkeysib-, 64 hexadecimal digits, a hyphen, 16 characters",
        examples=("xkeysib-" + "canary12" * 8 + "-" + "Canary12" * 2, "password: xsmtpsib-" + "canary12" * 8),
        near_misses=("xkeysib-key", "xkeysib-" + "x" * 64),
    ),
    Rule(
        "resend",
        value=rf"{LEFT}re_[A-Za-z0-9]{{6,10}}_[A-Za-z0-9]{{20,28}}(?![A-Za-z0-9_-])",
        anchors=("re_",),
        checks=(base64_key,),
        description="Resend API keys",
        source="Resend's documentation: re_, 8 characters, an underscore, 24 characters",
        examples=(
            "re_" + "Canary12" + "_" + _MIXED[:24],
            "RESEND_API_KEY=re_" + "Canary12" + "_" + _MIXED[:24],
        ),
        near_misses=("re_compile_all_the_expressions_of_2_files", "re_" + "x" * 8 + "_" + "x" * 24),
    ),
    Rule(
        "email-service",
        value=(
            rf"{LEFT}(?:mlsn\.{UNMASKED}[A-Za-z0-9]{{40,}}"
            rf"|os_v2_(?:app|org)_{UNMASKED}[A-Za-z0-9]{{32,}})"
        ),
        anchors=("mlsn.", "os_v2_app_", "os_v2_org_"),
        description="Keys of MailerSend and OneSignal",
        source="their documentation: mlsn. and 64 hexadecimal digits; os_v2_app_ or os_v2_org_",
        examples=("mlsn." + "canary12" * 8, "Authorization: Key os_v2_app_" + "canary12" * 8),
        near_misses=("mlsn.com", "os_v2_app_id", "mlsn." + "x" * 64),
    ),
    Rule(
        "mandrill",
        value=rf"{STRICT_LEFT}md-[A-Za-z0-9_-]{{22}}(?![A-Za-z0-9_-])",
        anchors=("md-",),
        checks=(base64_key,),
        description="Mandrill API keys",
        source="Mailchimp Transactional documentation: md- and 22 characters",
        examples=("md-" + _MIXED[:22], "MANDRILL_KEY=md-" + _MIXED[:20] + "_-"),
        near_misses=("md-button-with-an-icon-1", "md-" + _MIXED[:30], "md-" + "x" * 22),
    ),
    Rule(
        "klaviyo",
        value=rf"{LEFT}pk_(?:[A-Za-z0-9]{{6}}_)?[0-9a-z]{{34}}(?![A-Za-z0-9_-])",
        anchors=("pk_",),
        checks=(random_looking,),
        description="Klaviyo private API keys",
        source="Klaviyo's documentation: pk_ and 34 hexadecimal digits",
        examples=("pk_" + "canary12" * 4 + "ab", "Klaviyo-API-Key pk_" + "AbCd12_" + "canary12" * 4 + "ab"),
        near_misses=("pk_live_" + "canary12" * 3, "pk_" + "x" * 34, "pk_name"),
    ),
    Rule(
        "facebook",
        value=(
            rf"{STRICT_LEFT}(?:EAA[B-Z][A-Za-z0-9]{{44,}}"
            rf"|IG(?:QV|QW|AA)[A-Za-z0-9_-]{{44,}})"
        ),
        anchors=("EAA", "IGQV", "IGQW", "IGAA"),
        description="Access tokens of Facebook, Instagram and WhatsApp",
        source="Meta's documentation of access tokens: EAA and about two hundred characters; IG",
        examples=("EAAB" + _CANARY * 3, "access_token=IGQV" + _CANARY * 3 + "&fields=id"),
        near_misses=("EAAB", "EAAB" + "short" * 4, "IGQV...", "a/EAAB" + _CANARY * 3),
    ),
    Rule(
        "facebook-app",
        context=r"""(?:acebook|ACEBOOK|access_token|ACCESS_TOKEN)[A-Za-z_ ]*["']?[ \t]*[:=]?[ \t]*["']?""",
        value=r"[0-9]{13,17}(?:\||%7C)[A-Za-z0-9_-]{20,}",
        anchors=("acebook", "ACEBOOK", "access_token", "ACCESS_TOKEN"),
        description="Access tokens of Facebook's applications, next to their name",
        source="Meta's documentation of access tokens: the application's id, a bar, its secret",
        examples=(
            "?access_token=1308742762612587|" + "Canary_v0DOU_RTX_87O4MkX7AI",
            'FACEBOOK_TOKEN="911602140448729|' + "Canary-Zq9BoDLobvAiP25L7RcM" + '"',
            "access_token=1308742762612587%7C" + "Canary_v0DOU_RTX_87O4MkX7AI",
        ),
        near_misses=(
            "facebook 1308742762612587",
            "facebook: 12|34",
            "facebook=1308742762612587|{secret}",
        ),
    ),
    Rule(
        "matrix",
        value=rf"{LEFT}syt_{UNMASKED}[A-Za-z0-9+/=]+_[A-Za-z]{{16,}}(?:_[A-Za-z0-9]+)?",
        anchors=("syt_",),
        description="Matrix access tokens of Synapse",
        source="Synapse: syt_, the user's name in base64, 20 letters, a checksum",
        examples=("syt_" + "Ym9i_" + "Canary" * 4 + "_0Abc12", "Bearer syt_" + "Ym9i_" + "Canary" * 4),
        near_misses=("syt_", "syt_xxx_token"),
    ),
    Rule(
        "twitch",
        context="oauth:",
        value=r"[0-9a-z]{30}(?![A-Za-z0-9_-])",
        anchors=("oauth:",),
        checks=(random_looking,),
        description="Twitch chat tokens",
        source="Twitch's documentation of chat: oauth: and 30 characters",
        examples=("PASS oauth:" + "canary12" * 3 + "abcdef", '"oauth:' + "canary12" * 3 + 'abcdef"'),
        near_misses=("oauth:token", "urn:ietf:params:oauth:grant-type:jwt-bearer", "oauth:" + "x" * 30),
    ),
    Rule(
        "mmw",
        value=rf"{LEFT}mmw_{UNMASKED}[A-Za-z0-9_-]{{16,}}",
        anchors=("mmw_",),
        description="Keys that begin with mmw_",
        source="a prefix in use for the keys of a chat product",
        examples=("mmw_" + "Canary12" * 3, r'{"line": "a\nmmw_' + "Canary12" * 3 + '"}'),
        near_misses=("mmw_short", "hmmw_" + "a" * 30, "mmw_" + "x" * 30),
    ),
)
