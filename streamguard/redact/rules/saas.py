"""Keys of business and productivity services."""

from __future__ import annotations

from streamguard.redact.checks import base64_key, random_looking
from streamguard.redact.rule import Rule
from streamguard.redact.rules.boundary import LEFT, STRICT_LEFT, UNMASKED

__all__ = ["SAAS"]

_CANARY = "Canary12" * 6
_MIXED = "Canary12" + "BdEfGh34JkLm56NpQr78StUvWx90zZ" * 2
_UUID = "canary12-1234-4abc-8def-canary123456"

SAAS = (
    Rule(
        "notion",
        value=rf"{LEFT}(?:ntn_{UNMASKED}[A-Za-z0-9]{{24,}}|secret_[A-Za-z0-9]{{43}}(?![A-Za-z0-9_]))",
        anchors=("ntn_", "secret_"),
        checks=(random_looking,),
        description="Notion integration tokens",
        source="Notion's documentation: ntn_ and 46 characters, formerly secret_ and 43",
        examples=("ntn_" + "12345678901" + _MIXED[:35], "NOTION_TOKEN=secret_" + _MIXED[:43] + "\n"),
        near_misses=("ntn_token", "secret_" + "a" * 43, "secret_name_of_the_first_secret", "ntn_" + "x" * 46),
    ),
    Rule(
        "airtable",
        value=rf"{LEFT}pat[A-Za-z0-9]{{14}}\.[0-9a-z]{{40,}}",
        anchors=("pat",),
        checks=(random_looking,),
        description="Airtable personal access tokens",
        source="Airtable's documentation: pat, 14 characters, a dot, 64 hexadecimal digits",
        examples=("patCanary12AbCdEf." + "canary12" * 8, "Bearer patAbCdEfGhIjKlMn." + "canary12" * 8),
        near_misses=("pattern_matching.py", "pathToTheModule12.exportedfunctionofthemodule", "pat.x"),
    ),
    Rule(
        "hubspot",
        value=rf"{LEFT}pat-(?:na|eu|ap)[0-9]-{UNMASKED}[A-Za-z0-9-]{{24,}}",
        anchors=("pat-na", "pat-eu", "pat-ap"),
        description="HubSpot tokens of private apps",
        source="HubSpot's documentation of private apps: pat-, the region, a UUID",
        examples=("pat-na1-" + _UUID, "HUBSPOT_TOKEN=pat-eu1-" + _UUID),
        near_misses=("pat-na1-token", "pat-na1-" + "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx"),
    ),
    Rule(
        "asana",
        context=rf"{LEFT}[0-2]/[0-9][0-9]{{13,}}(?:/[0-9]{{14,}})?:",
        value=rf"{UNMASKED}[A-Za-z0-9]{{20,}}",
        anchors=("0/", "1/", "2/"),
        description="Asana personal access tokens, from the colon on: before it stand the user's numbers",
        source="Asana's documentation: a version, numbers, a colon, 32 hexadecimal digits",
        examples=("2/1234567890123456/1234567890123456:" + "canary12" * 4, "0/1234567890123456:" + _CANARY),
        near_misses=("1/1234", "2/1234567890123456/1234567890123456", "1/2: " + "a" * 32),
    ),
    Rule(
        "dropbox",
        value=rf"{STRICT_LEFT}sl\.(?:u\.)?{UNMASKED}[A-Za-z0-9_-]{{100,}}",
        anchors=("sl.",),
        checks=(random_looking,),
        description="Dropbox access tokens",
        source="Dropbox's documentation of OAuth: sl. and at least 130 characters",
        examples=("sl.B" + _CANARY * 3, "DROPBOX_TOKEN=sl.u.A" + _CANARY * 3),
        near_misses=("ssl.create_default_context", "sl.name", "sl." + "x" * 140),
    ),
    Rule(
        "typeform",
        value=rf"{LEFT}tfp_{UNMASKED}[A-Za-z0-9_.=-]{{30,}}",
        anchors=("tfp_",),
        checks=(random_looking,),
        description="Typeform personal access tokens",
        source="Typeform's documentation: tfp_ and about sixty characters",
        examples=("tfp_" + _CANARY, "Bearer tfp_" + _CANARY + "_3pd"),
        near_misses=("tfp_token", "tfp_distributions_of_the_probability_layers"),
    ),
    Rule(
        "contentful",
        value=rf"{LEFT}CFPAT-{UNMASKED}[A-Za-z0-9_-]{{24,}}",
        anchors=("CFPAT-",),
        description="Contentful personal access tokens",
        source="Contentful's documentation: CFPAT- and 43 characters",
        examples=("CFPAT-" + _CANARY, "CMA_TOKEN=CFPAT-" + _CANARY),
        near_misses=("CFPAT-", "CFPAT-" + "x" * 43),
    ),
    Rule(
        "intercom",
        value=rf"{STRICT_LEFT}dG9rO[jm][A-Za-z0-9+/]{{36,}}={{0,2}}",
        anchors=("dG9rO",),
        description="Intercom access tokens",
        source="Intercom's documentation of access tokens: the base64 of tok: and what follows",
        examples=("dG9rOj" + _CANARY + "=", "INTERCOM_TOKEN=dG9rOm" + _CANARY),
        near_misses=("dG9rOg==", "dG9rOjEyMw=="),
    ),
    Rule(
        "salesforce",
        value=rf"{LEFT}00D[A-Za-z0-9]{{12,15}}!A[A-Za-z0-9._]{{24,}}",
        anchors=("00D",),
        description="Salesforce session ids and access tokens",
        source="Salesforce's documentation: the organisation's id, an exclamation mark, the rest",
        examples=("00D" + "5g000001abcD" + "!AQ" + _CANARY * 2, "Bearer 00D5g000001abcDEAQ!AR" + _CANARY * 2),
        near_misses=("00D5g000001abcDEAQ", "00D5g000001abcDEAQ!"),
    ),
    Rule(
        "okta",
        context="SSWS (?:')?",
        value=rf"{UNMASKED}[A-Za-z0-9_-]{{30,}}",
        anchors=("SSWS ",),
        description="Okta API tokens, after the name of their scheme",
        source="Okta's documentation of API tokens: 00 and 40 characters, sent as SSWS",
        examples=("SSWS 00" + _MIXED[:40], "Authorization: SSWS 00" + _MIXED[:38] + "-_\n"),
        near_misses=("SSWS ${token}", "SSWS " + "x" * 42, "SSWS is a scheme"),
    ),
    Rule(
        "frameio",
        value=rf"{LEFT}fio-u-{UNMASKED}[A-Za-z0-9_=-]{{32,}}",
        anchors=("fio-u-",),
        description="Frame.io developer tokens",
        source="Frame.io's documentation: fio-u- and 64 characters",
        examples=("fio-u-" + _CANARY, "FRAMEIO_TOKEN=fio-u-" + _CANARY),
        near_misses=("fio-u-token", "fio-u-" + "x" * 64),
    ),
    Rule(
        "scalingo",
        value=rf"{LEFT}tk-us-{UNMASKED}[A-Za-z0-9_-]{{32,}}",
        anchors=("tk-us-",),
        description="Scalingo API tokens",
        source="Scalingo's documentation: tk-us- and 48 characters",
        examples=("tk-us-" + _CANARY, "SCALINGO_API_TOKEN=tk-us-" + _CANARY),
        near_misses=("tk-us-east", "tk-us-" + "x" * 48),
    ),
    Rule(
        "settlemint",
        value=rf"{LEFT}sm_(?:aat|pat|sat)_{UNMASKED}[A-Za-z0-9]{{12,}}",
        anchors=("sm_aat_", "sm_pat_", "sm_sat_"),
        description="SettleMint tokens of applications, people and services",
        source="SettleMint's documentation: a prefix and 16 characters",
        examples=("sm_aat_" + "Canary12" * 2, "TOKEN=sm_pat_" + "Canary12" * 2),
        near_misses=("sm_pat_id", "sm_sat_" + "x" * 16),
    ),
    Rule(
        "authress",
        value=rf"{LEFT}(?:sc|ext|scauth|authress)_[A-Za-z0-9]{{5,30}}\.[A-Za-z0-9]{{4,6}}\.[a-z]{{3}}[_-][A-Za-z0-9._+/=-]{{16,}}",
        checks=(random_looking,),
        anchors=("sc_", "ext_", "scauth_", "authress_"),
        description="Authress access keys of service clients",
        source="Authress documentation of service clients",
        examples=(
            "sc_" + "abcdef123.ab12.acc_" + "canary1234" + "." + _CANARY,
            "key: ext_" + "abcdef123.ab12.acc-" + "canary1234" + "." + _CANARY,
        ),
        near_misses=("sc_name.attr.acc_value", "ext_modules.path"),
    ),
    Rule(
        "clickhouse-cloud",
        value=rf"{LEFT}4b1d[A-Za-z0-9]{{38}}(?![A-Za-z0-9])",
        anchors=("4b1d",),
        checks=(base64_key,),
        description="ClickHouse Cloud API secret keys",
        source="ClickHouse Cloud documentation: 4b1d and 38 characters",
        examples=("4b1d" + _MIXED[:38], "CLICKHOUSE_SECRET=4b1d" + _MIXED[:38] + "\n"),
        near_misses=("4b1d" + "0123456789abcdef" * 2 + "012345", "4b1d" + _MIXED[:45]),
    ),
    Rule(
        "adafruit-io",
        value=rf"{LEFT}aio_{UNMASKED}[A-Za-z0-9]{{24,}}",
        anchors=("aio_",),
        description="Adafruit IO keys",
        source="Adafruit IO: aio_ and 28 characters",
        examples=("aio_" + _CANARY[:28], "AIO_KEY=aio_" + _CANARY[:28]),
        near_misses=("aio_read", "aio_" + "x" * 28, "aio_write_to_the_file_descriptor"),
    ),
    Rule(
        "adobe",
        value=rf"{LEFT}p8e?-{UNMASKED}[A-Za-z0-9_-]{{28,}}",
        anchors=("p8-", "p8e-"),
        checks=(random_looking,),
        description="Adobe client secrets",
        source="Adobe Developer Console: p8e- or p8- and 32 characters",
        examples=("p8e-" + "canary12" * 4, "client_secret: p8-" + "canary12" * 4),
        near_misses=("p8-key", "p8e-" + "x" * 32, "p8-the-name-of-a-file-with-many-words"),
    ),
    Rule(
        "beamer",
        value=rf"{LEFT}b_[A-Za-z0-9_-][A-Za-z0-9=_-]{{43}}(?![A-Za-z0-9=_-])",
        anchors=("b_",),
        checks=(base64_key,),
        description="Beamer API keys",
        source="Beamer's documentation: b_ and 44 characters",
        examples=("b_" + _MIXED[:44], "BEAMER_KEY=b_" + _MIXED[:43] + "=\n"),
        near_misses=("b_", "b_" + "x" * 44, "b_" + _MIXED[:50]),
    ),
    Rule(
        "rapidapi",
        context="[0-9a-f]{5}",
        value=r"msh[0-9a-z]{15}p1[0-9a-z]{6}jsn[0-9a-z]{8,}",
        anchors=("msh",),
        description="RapidAPI keys, from the first of the words inside on",
        source="RapidAPI: 10 digits, msh, 15 digits, p1, 6 digits, jsn, 12 digits",
        examples=("0123abcdef" + "msh" + "canary123456789" + "p1" + "abcdef" + "jsn" + "canary123456",),
        near_misses=("mesh", "0123abcdefmsh", "abcdefmshp1jsn"),
    ),
    Rule(
        "tines-webhook",
        context=r"tines\.com\\?/webhook\\?/[A-Za-z0-9]+\\?/",
        value=r"[A-Za-z0-9]{16,}",
        anchors=("tines",),
        description="The secret part of a Tines webhook address",
        source="Tines documentation of webhook actions",
        examples=("https://acme.tines.com/webhook/" + "0123abcd" * 4 + "/" + "canary12" * 4,),
        near_misses=("https://acme.tines.com/webhook/path/secret", "https://www.tines.com/webhook"),
    ),
    Rule(
        "automation-webhook",
        context=(
            r"(?:hooks\.zapier\.com\\?/hooks\\?/catch\\?/[0-9]+\\?/"
            r"|maker\.ifttt\.com\\?/(?:use|trigger\\?/[A-Za-z0-9_{}-]+(?:\\?/json)?\\?/with\\?/key)\\?/"
            r"|hook\.(?:(?:eu|us)[0-9]\.)?(?:make|integromat)\.com\\?/)"
        ),
        value=r"[A-Za-z0-9_-]{6,}",
        anchors=("hooks.zapier.com", "maker.ifttt.com", "hook."),
        description="The secret part of a webhook address of Zapier, IFTTT or Make",
        source="the documentation of each; whoever knows the address may call it",
        examples=(
            "https://hooks.zapier.com/hooks/catch/1234567/canary1/",
            "https://maker.ifttt.com/trigger/door/with/key/" + _CANARY,
            "https://hook.eu1.make.com/" + "canary12" * 4,
        ),
        near_misses=(
            "https://hooks.zapier.com/hooks/catch/1234567/",
            "https://maker.ifttt.com/trigger/{event}/with/key/{key}",
        ),
    ),
    Rule(
        "mapbox",
        value=rf"{STRICT_LEFT}sk\.eyJ[A-Za-z0-9_-]{{20,}}(?:\.[A-Za-z0-9_-]+)?",
        anchors=("sk.eyJ",),
        description="Mapbox secret access tokens",
        source="Mapbox documentation: sk. and a token; those with pk. are public",
        examples=("sk.eyJ" + "1Ijoi" + _CANARY + "." + _CANARY[:22], "access_token=sk.eyJ1" + _CANARY),
        near_misses=("sk.eyJ1", "sk.eyJ..."),
    ),
    Rule(
        "clickup",
        value=rf"{LEFT}pk_[0-9]{{5,10}}_{UNMASKED}[A-Z0-9]{{24,}}",
        anchors=("pk_",),
        description="ClickUp personal tokens",
        source="ClickUp's documentation: pk_, the user's number, 32 characters",
        examples=("pk_12345678_" + "CANARY12" * 4, "Authorization: pk_1234567_" + "CANARY12" * 4),
        near_misses=("pk_12345678_token", "pk_12345678_" + "X" * 32),
    ),
    Rule(
        "trello",
        value=rf"{LEFT}ATTA{UNMASKED}[A-Za-z0-9]{{40,}}",
        anchors=("ATTA",),
        description="Trello tokens",
        source="Atlassian's documentation of Trello's API: ATTA and 72 hexadecimal digits",
        examples=("ATTA" + "canary12" * 9, "token=ATTA" + "canary12" * 9 + "&key=1"),
        near_misses=("ATTACHMENT", "ATTA" + "x" * 72),
    ),
    Rule(
        "twitter-bearer",
        value=r"(?<![A-Za-z0-9+/])A{18}[A-Za-z0-9]{8,24}%[23][A-Za-z0-9%]+",
        anchors=("AAAAAAAAAAAAAAAAAA",),
        description="Bearer tokens of X, formerly Twitter",
        source="X's documentation of application-only authentication: a run of A, base64 in percent notation",
        examples=("A" * 21 + "MLheAAAAAAA0%2B" + _CANARY + "%3D" + _CANARY,),
        near_misses=("A" * 80, "A" * 21 + "B" * 40),
    ),
    Rule(
        "business-service",
        value=(
            rf"{LEFT}(?:apify_(?:api|proxy)_{UNMASKED}[A-Za-z0-9]{{24,}}"
            rf"|cal_(?:live_)?{UNMASKED}[0-9a-z]{{32,}}"
            rf"|n8n_api_{UNMASKED}[A-Za-z0-9._-]{{30,}}"
            rf"|dbt[cu]_{UNMASKED}[A-Za-z0-9_-]{{28,}}"
            rf"|waka_{UNMASKED}[A-Za-z0-9]{{8}}-[A-Za-z0-9-]{{12,}}"
            rf"|retool_01{UNMASKED}[A-Za-z0-9]{{20,}}"
            rf"|secret-(?:live|test)-{UNMASKED}[A-Za-z0-9_=-]{{30,}})"
        ),
        anchors=("apify_", "cal_", "n8n_api_", "dbtc_", "dbtu_", "waka_", "retool_01", "secret-"),
        checks=(random_looking,),
        description="Keys of Apify, Cal.com, n8n, dbt Cloud, WakaTime, Retool and Stytch",
        source="the documentation of each: a prefix of its own",
        examples=(
            "apify_api_" + _CANARY,
            "cal_live_" + "canary12" * 4,
            "n8n_api_" + _CANARY,
            "DBT_TOKEN=dbtc_" + _CANARY,
            "waka_" + _UUID,
            "retool_01" + "canary12" * 3,
            "secret-test-" + _CANARY,
        ),
        near_misses=("apify_api_token", "cal_live_", "dbtc_name_of_a_connection_in_the_cloud", "waka_time"),
    ),
)
