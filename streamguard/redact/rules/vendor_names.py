r"""Random values assigned to names that contain the name of a service: `snyk_api`, `"kraken"`.

Many services hand out keys without a prefix; what tells them is the name they are kept under.
Such a name says less than `password` does, since identifiers, addresses and versions are kept
under it too: the value has to look random, and names that end in `id` or `hash` are left alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from streamguard.redact.checks import vendor_key
from streamguard.redact.rule import Rule
from streamguard.redact.rules.notation import END, GAP, IS, OPENED, PAIRED, STOP

__all__ = ["VENDORS"]

# Their parts are those of a camel-case spelling.
_VENDORS = """
    adafruit adobe airtable algolia alibaba anthropic artifactory asana atlassian
    auth0 beamer binance bit-bucket bittrex bugsnag circle-ci click-house clojars cloudant cloud-flare
    cloudinary codacy codecov cohere coinbase confluent contentful coveralls data-bricks data-dog
    deepl deep-seek digital-ocean doppler droneci drop-box duffel easypost elastic-search eleven-labs etsy
    facebook fastly figma finicity finnhub firebase flickr flutterwave fresh-books fresh-desk
    giphy gitter gocardless grafana hub-spot hugging-face infura instagram
    intercom jfrog jira kraken kucoin launch-darkly linked-in lokalise mail-chimp mail-gun
    mapbox mattermost max-mind message-bird mistral mix-panel netlify new-relic
    ny-times okta one-signal open-ai open-weather opsgenie pager-duty paypal
    paystack perplexity pinecone plaid planet-scale postman post-mark posthog
    rapid-api razorpay rollbar salesforce send-bird send-grid send-in-blue shippo shodan
    shopify snyk softlayer sourcegraph spotify square-space sumo sumo-logic supabase
    tavily telegram todoist trello twilio twitch twitter typeform vercel virus-total vonage
    wandb yandex yelp zapier zen-desk
"""
# Everyday words, and words within others: the name has to go on, or to end in its sign.
_WORDS = """
    alchemy amplitude contribsys__com discord git-hub git-lab heroku linear lob looker notion polygon
    pusher quip segment sentry slack sonar square stripe together travis vault zoom
"""
# The first argument of what makes a client: `cohere.Client("...")`, `Mailchimp("...")`.
_CLIENT = (
    r"(?:\.(?:[A-Z][A-Za-z]*)?(?:Api|API|Client|Service)(?:V[0-9])?"
    r"|\.(?:new|init|configure|set_?[aA]pi_?[kK]ey)|[A-Z][A-Za-z]*)?"
)
_GOES_ON = r"(?:[_TKAS]|[-.][kta])[A-Za-z0-9_.-]*"
_ENDS = r"""(?:["']:|:|=|[ ]=)[:=>]?"""


def _spelled(name: str) -> tuple[str, ...]:
    parts = name.split("-")
    camel = "".join(map(str.title, parts))
    forms = [
        "".join(parts),
        camel,
        parts[0] + camel[len(parts[0]) :],
        "".join(parts).title(),
        "_".join(parts),
    ]
    return tuple(dict.fromkeys([*forms, forms[0].upper(), forms[-1].upper()]))


def _branched(names: Iterable[str], depth: int = 3) -> str:
    """An alternation in which names that begin alike share their beginning: it is walked faster."""
    if depth == 0:
        return "|".join(map(re.escape, names))
    groups: dict[str, list[str]] = {}
    for name in sorted(names):
        groups.setdefault(name[:1], []).append(name[1:])
    return "|".join(
        f"{re.escape(first)}(?:{_branched(rest, depth - 1)})" if len(rest) > 1 else re.escape(first + rest[0])
        for first, rest in groups.items()
    )


_FORMS = [form for vendor in _VENDORS.split() for form in _spelled(vendor)]
_ANY = _branched(_FORMS)
_WORD = [form for word in _WORDS.split() for form in _spelled(word)]
# What ends in these is no key: an identifier, unless of an access, a digest, a name.
_NO_ID = "".join(f"(?<!{end})" for end in ("[Ii]d", "ersion", "ame", "ash", "rl", "ommit", "igest"))
_NAME = rf"(?:(?:{_ANY})[A-Za-z0-9_.-]*|(?<![A-Za-z:])(?:{'|'.join(form + _GOES_ON for form in _WORD)}))"
_SAID = rf"(?<![A-Za-z:])(?:{'|'.join(form + _ENDS for form in _WORD)})"
_ELEMENT = r">[ \t\r\n]*"

VENDORS = (
    Rule(
        "vendor-assignment",
        context=(
            rf"(?:(?:{_NAME}){_NO_ID}(?:(?:{IS}|{PAIRED})(?:{OPENED})?|{_ELEMENT})"
            rf"|(?:{_SAID}){GAP}(?:{OPENED})?"
            rf"|(?:{_ANY}){_CLIENT}\({GAP}{OPENED})"
        ),
        value=rf"""(?<=["'`])[^\s"'`\\]{{14,}}(?=["'`\\]|\Z)|(?<!["'`])(?:[^{STOP}/]|(?<!:)/)[^{STOP}]{{12,}}[^{STOP}.]{END}""",
        anchors=(*_FORMS, *_WORD),
        checks=(vendor_key,),
        description="A random-looking value assigned to a name that contains the name of a service",
        source="the settings of services whose keys have no prefix: Snyk, Datadog, Kraken and others",
        examples=(
            'dropbox_api = "canary0t4k2z8q1"',
            "SNYK_TOKEN: canary00-cafe-4ead-beef-c0ffee123456",
            '$linkedinToken .= "canary0np586ixv8nc"',
            '"kraken": "canary0+crpb6a3l162na8bdnz"',
            "<EtsyToken>\n    canary0vsk4gslxior7a21\n</EtsyToken>",
            'System.setProperty("SUMO_TOKEN", "canary0W0lyCTmb8h")',
            "- name: NETLIFY_TOKEN\n  value: canary0_8dcmjqfcghbs",
            "vault_token = canary0vsk4gslxior7a21",
            'cohere.Client("canary0vsk4gslxior7a21")',
            "new Airtable('canary0vsk4gslxior7a21')",
            'Mailchimp("canary0vsk4gslxior7a21c0ffee1234-us12")',
        ),
        near_misses=(
            'sentry_version = "7.112.0-rc.1"',
            "okta_client_id = 0oa1b2c3d4e5f6g7h8i9",
            'slack_commit = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"',
            '"algolia": "^4.17.0"',
            "DATADOG_SITE: us5.datadoghq.com",
            "twilio_account = config.twilio.account2.name",
            '"AWS::Backup::BackupVault": "bbc9ab442cde9ecc"',
            "Dropbox is where v2of4the6files8are",
            "telegram_url = https://t.me/canary0vsk4gslxior7a21",
            "discord_channel: 1234567890123456789",
            "INTERCOM_TOKEN=${INTERCOM_TOKEN}",
            "heroku_app: my-app-on-heroku-24-stack",
            "ft:gpt-4o-mini:openai:custom-model-name:7p4lURel",
            "cloudinary://123456789012345:<secret>@cloud",
            'cohere.Client("your-api-key-of-cohere-1")',
            'airtable.base("appq8Fb2kLm9QpZx")',
        ),
    ),
)
