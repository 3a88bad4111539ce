"""Keys of monitoring and analytics services."""

from __future__ import annotations

from streamguard.redact.checks import random_looking, vendor_key
from streamguard.redact.rule import Rule
from streamguard.redact.rules.boundary import LEFT, UNMASKED
from streamguard.redact.rules.notation import IS, MARK

__all__ = ["MONITORING"]

_CANARY = "Canary12" * 6

MONITORING = (
    Rule(
        "datadog",
        value=rf"{LEFT}dd(?:pat|sat|app)_{UNMASKED}[A-Za-z0-9_-]{{20,}}",
        anchors=("ddpat_", "ddsat_", "ddapp_"),
        checks=(random_looking,),
        description="Datadog access tokens and application keys with a prefix",
        source="Datadog's documentation of personal access tokens; older keys are hexadecimal digits",
        examples=("ddpat_" + _CANARY, "DD_APP_KEY=ddapp_" + _CANARY[:34]),
        near_misses=("ddpat_token", "ddapp_name_of_the_first_application", "ddsat_" + "x" * 34),
    ),
    Rule(
        "new-relic",
        value=rf"{LEFT}NR(?:AK|JS|II|RA|IQ|MA)-{UNMASKED}[A-Za-z0-9_-]{{16,}}",
        anchors=("NRAK-", "NRJS-", "NRII-", "NRRA-", "NRIQ-", "NRMA-"),
        description="New Relic user, browser, insert, query and REST keys",
        source="New Relic's documentation of API keys",
        examples=("NRAK-" + "CANARY12" * 3 + "ABC", "license: NRJS-" + "canary12" * 2 + "abc"),
        near_misses=("NRAK-", "NRAK-" + "X" * 27, "NRJS-short"),
    ),
    Rule(
        "sentry",
        value=(
            rf"{LEFT}(?:sntrys_eyJ[A-Za-z0-9+/_=-]{{24,}}"
            rf"|sntry[uai]_{UNMASKED}[A-Za-z0-9]{{32,}})"
        ),
        anchors=("sntrys_eyJ", "sntryu_", "sntrya_", "sntryi_"),
        description="Sentry tokens of organisations, users and integrations",
        source="Sentry's documentation of auth tokens; the key inside a DSN is public",
        examples=("sntrys_eyJ" + _CANARY * 2 + "=_" + _CANARY, "SENTRY_AUTH_TOKEN=sntryu_" + "canary12" * 8),
        near_misses=("sntrys_eyJ...", "sntryu_" + "x" * 64, "sntryu_short"),
    ),
    Rule(
        "grafana",
        value=(
            rf"{LEFT}(?:gl(?:c|sa)_{UNMASKED}[A-Za-z0-9+/_=-]{{24,}}"
            r"|eyJrIjoi[A-Za-z0-9+/_-]{36,}={0,2})"
        ),
        anchors=("glc_", "glsa_", "eyJrIjoi"),
        checks=(random_looking,),
        description="Grafana service account tokens, cloud access policy tokens and older API keys",
        source="Grafana's documentation: glsa_ and a checksum, glc_, the base64 of an object with a k",
        examples=(
            "glsa_" + "Canary12" * 4 + "_0123abcd",
            "glc_eyJ" + _CANARY,
            "Bearer eyJrIjoi" + _CANARY * 2 + "==",
        ),
        near_misses=("glc_short", "glsa_" + "x" * 41, "glc_context_of_the_first_window_made_current"),
    ),
    Rule(
        "posthog",
        value=rf"{LEFT}ph[xs]_{UNMASKED}[A-Za-z0-9]{{28,}}",
        anchors=("phx_", "phs_"),
        description="PostHog personal API keys and secure keys of feature flags",
        source="PostHog's documentation; its project keys (phc_) are public",
        examples=("phx_" + _CANARY, "POSTHOG_PERSONAL_API_KEY=phs_" + _CANARY),
        near_misses=(
            "phx_short",
            "phc_" + _CANARY,
            "phx_" + "x" * 43,
            "phs_name_of_a_long_variable",
        ),
    ),
    Rule(
        "dynatrace",
        value=rf"{LEFT}dt0[a-z][0-9]{{2}}\.[A-Za-z0-9]{{8,24}}\.{UNMASKED}[A-Za-z0-9]{{10,}}",
        anchors=("dt0",),
        description="Dynatrace API, platform and OAuth tokens",
        source="Dynatrace documentation: dt0c01 or another kind, a public part, 64 characters",
        examples=(
            "dt0c01." + "ABCDEFGH" * 3 + "." + "CANARY12" * 8,
            "Api-Token dt0s16." + "ABCDEFGH" + "." + "CANARY12" * 8,
        ),
        near_misses=("dt0c01." + "ABCDEFGH" * 3, "dt0c01.public.secret", "dt0 = 0.01"),
    ),
    Rule(
        "honeycomb",
        value=rf"{LEFT}hc[a-z](?:ik|lk|mk|xk)_{UNMASKED}[A-Za-z0-9]{{28,}}",
        anchors=("ik_", "lk_", "mk_", "xk_"),
        description="Honeycomb ingest, configuration and management keys",
        source="Honeycomb's documentation of API keys: hc, the region, the kind",
        examples=("hcaik_01" + _CANARY, "x-honeycomb-team: hcbmk_01" + _CANARY),
        near_misses=("hcaik_short", "hcaik_" + "x" * 58),
    ),
    Rule(
        "telemetry-token",
        value=(
            rf"{LEFT}(?:pdus\+_{UNMASKED}[A-Za-z0-9_-]{{16,}}"
            rf"|cx[tu]p_{UNMASKED}[A-Za-z0-9]{{24,}}"
            rf"|pylf_v[0-9]_[a-z]+_{UNMASKED}[A-Za-z0-9]{{24,}}"
            rf"|rootly_{UNMASKED}[A-Za-z0-9]{{32,}}"
            rf"|hcw_{UNMASKED}[A-Za-z0-9]{{24,}})"
        ),
        anchors=("pdus+_", "cxtp_", "cxup_", "pylf_v", "rootly_", "hcw_"),
        description="Tokens of PagerDuty, Coralogix, Logfire, Rootly and Healthchecks",
        source="their documentation: pdus+_, cxtp_ and cxup_, pylf_v1_ and a region, rootly_, hcw_",
        examples=(
            "pdus+_" + _CANARY,
            "cxtp_" + _CANARY,
            "LOGFIRE_TOKEN=pylf_v1_us_" + _CANARY,
            "rootly_" + _CANARY,
            "hcw_" + _CANARY,
        ),
        near_misses=(
            "cxup_short",
            "pylf_v1_us_token",
            "rootly_" + "x" * 64,
            "hcw_name_of_a_function",
        ),
    ),
    Rule(
        "axiom",
        value=rf"{LEFT}xa[aip]t-{UNMASKED}[A-Za-z0-9-]{{24,}}",
        anchors=("xaat-", "xait-", "xapt-"),
        description="Axiom API, ingest and personal tokens",
        source="Axiom's documentation of tokens: a prefix and a UUID",
        examples=("xaat-" + "canary12-1234-1234-1234-canary123456", "AXIOM_TOKEN=xapt-" + "canary12-" * 4),
        near_misses=("xaat-", "xaat-" + "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx"),
    ),
    Rule(
        "sumologic-access",
        context=rf"(?:umo|UMO)(?:[lL]ogic|LOGIC|[_.])[A-Za-z_.-]*{IS}(?:{MARK})?",
        value=r"su[A-Za-z0-9]{12}(?![A-Za-z0-9_-])",
        anchors=(
            "umologic",
            "umoLogic",
            "umoLOGIC",
            "UMOlogic",
            "UMOLogic",
            "UMOLOGIC",
            "umo_",
            "UMO_",
            "umo.",
            "UMO.",
        ),
        checks=(vendor_key,),
        description="The access ids of Sumo Logic, next to their name",
        source="Sumo Logic's documentation of access keys: su and twelve letters and digits",
        examples=('sumologic.accessId = "suCanary0t4k2z"', "SUMO_ACCESS_ID: suCanary9X4k2z"),
        near_misses=('sumo_type = "subscriptionid"', "sumo_logic_url = suburbanplaces.example.com"),
    ),
)
