"""Keys of payment services."""

from __future__ import annotations

from streamguard.redact.checks import base64_key, random_looking
from streamguard.redact.rule import Rule
from streamguard.redact.rules.boundary import LEFT, STRICT_LEFT, UNMASKED

__all__ = ["PAYMENTS"]

_CANARY = "Canary12" * 6
_UUID = "canary12-1234-4abc-8def-canary123456"
_MIXED = "Canary12" + "BdEfGh34JkLm56NpQr78StUvWx90zZ" * 2

PAYMENTS = (
    Rule(
        "stripe",
        value=(
            rf"{LEFT}(?:[sr]k_(?:live|test|prod|org)_(?:live_|test_)?{UNMASKED}[A-Za-z0-9]{{10,}}"
            rf"|whsec_{UNMASKED}[A-Za-z0-9+/]{{24,}}={{0,2}})"
        ),
        anchors=("sk_", "rk_", "whsec_"),
        description="Secret and restricted keys of Stripe and services like it, and webhook signing secrets",
        source="Stripe's documentation of API keys; Paystack, Clerk, WorkOS and others took the form over",
        examples=(
            "sk_live_" + "Canary12" * 3,
            "STRIPE_KEY='rk_test_" + "Canary12" * 3 + "'",
            "whsec_" + "Canary12" * 4,
        ),
        near_misses=(
            "pk_live_" + "Canary12" * 3,
            "task_test_" + "Canary12" * 3,
            "sk_live_...",
            "sk_test_" + "x" * 24,
        ),
    ),
    Rule(
        "square",
        value=rf"{LEFT}sq0[a-z]{{3}}-{UNMASKED}[A-Za-z0-9_-]{{16,}}",
        anchors=("sq0",),
        description="Square access tokens and application secrets with a prefix",
        source="Square's documentation: sq0atp- and 22 characters, sq0csp- and 43",
        examples=("sq0atp-" + "Canary12" * 3, "square_secret = sq0csp-" + _CANARY),
        near_misses=("sq0atp-short", "sq0csp-" + "x" * 43),
    ),
    Rule(
        "square-access-token",
        value=rf"{STRICT_LEFT}EAAA[A-Za-z0-9_-]{{56,64}}(?![A-Za-z0-9+/=_-])",
        anchors=("EAAA",),
        checks=(base64_key,),
        description="Square access tokens of the newer form",
        source="Square's documentation: EAAA and 60 characters",
        examples=("EAAA" + _MIXED[:60], "SQUARE_TOKEN=EAAA" + _MIXED[:60] + "\n"),
        near_misses=("EAAA", "EAAA" + "A" * 60, "EAAA" + _MIXED + _MIXED),
    ),
    Rule(
        "braintree",
        context=r"access_token\$(?:production|sandbox)\$",
        value=r"[A-Za-z0-9]{16}\$[A-Za-z0-9]+",
        anchors=("access_token$production$", "access_token$sandbox$"),
        description="Access tokens of Braintree and PayPal",
        source="Braintree's documentation of access tokens",
        examples=(
            "access_token$production$" + "canary12" * 2 + "$" + "0123456789abcdef" * 2,
            "BRAINTREE=access_token$sandbox$" + "canary12" * 2 + "$" + "0123456789abcdef" * 2,
        ),
        near_misses=("access_token$", "access_token$production$id"),
    ),
    Rule(
        "shopify",
        value=rf"{LEFT}shp(?:at|ca|pa|ss|tka|ua|rt)_{UNMASKED}[A-Za-z0-9]{{24,}}",
        anchors=("shpat_", "shpca_", "shppa_", "shpss_", "shptka_", "shpua_", "shprt_"),
        description="Shopify access tokens and shared secrets",
        source="Shopify's documentation of access token prefixes",
        examples=("shpat_" + "canary12" * 4, "X-Shopify-Access-Token: shpca_" + "canary12" * 4),
        near_misses=("shpat_token", "shpss_" + "x" * 32),
    ),
    Rule(
        "adyen",
        value=rf"{LEFT}AQE[a-z]hmf[A-Za-z0-9+/]{{20,}}={{0,2}}(?:-[^\s\"'\\]*)?",
        anchors=("AQE",),
        description="Adyen API keys",
        source="Adyen's documentation of API credentials: base64, a hyphen, base64, a hyphen, characters",
        examples=(
            "AQEyhmf" + "x" + _CANARY + "-" + _CANARY + "=-" + "Canary+~!9(K",
            "X-API-Key: AQErhmf" + "u" + _CANARY + '"',
        ),
        near_misses=("AQEyhmf", "AQEyhmf..."),
    ),
    Rule(
        "flutterwave",
        value=rf"{LEFT}FLWSECK(?:_TEST)?-{UNMASKED}[A-Za-z0-9]{{12,}}(?:-X)?",
        anchors=("FLWSECK",),
        description="Flutterwave secret and encryption keys",
        source="Flutterwave's documentation of API keys; FLWPUBK keys are public",
        examples=("FLWSECK-" + "canary12" * 4 + "-X", "FLW_KEY=FLWSECK_TEST-" + "canary12" * 2),
        near_misses=("FLWSECK_TEST-" + "X" * 32 + "-X", "FLWPUBK-" + "canary12" * 4 + "-X"),
    ),
    Rule(
        "easypost",
        value=rf"{LEFT}EZ[AT]K{UNMASKED}[A-Za-z0-9]{{30,}}",
        anchors=("EZAK", "EZTK"),
        description="EasyPost production and test keys",
        source="EasyPost's documentation of API keys: EZAK or EZTK and 54 characters",
        examples=("EZAK" + _CANARY, "key=EZTK" + _CANARY + "&q=1"),
        near_misses=("EZAK", "EZTK" + "x" * 54),
    ),
    Rule(
        "plaid",
        context=rf"{LEFT}access-(?:sandbox|development|production)-",
        value=rf"{UNMASKED}[A-Za-z0-9]{{8}}-[A-Za-z0-9-]{{9,}}",
        anchors=("access-sandbox-", "access-development-", "access-production-"),
        checks=(random_looking,),
        description="Plaid access tokens",
        source="Plaid's documentation of access tokens: the environment and a UUID",
        examples=("access-sandbox-" + _UUID, "PLAID_TOKEN=access-production-" + _UUID),
        near_misses=("access-sandbox-accounts-of-the-tests", "access-production-" + "x" * 36),
    ),
    Rule(
        "gocardless",
        value=rf"{LEFT}(?:live|sandbox)_[A-Za-z0-9_=-]{{40}}(?![A-Za-z0-9_=-])",
        anchors=("live_", "sandbox_"),
        checks=(random_looking,),
        description="GoCardless access tokens",
        source="GoCardless API documentation: live_ or sandbox_ and 40 characters",
        examples=("live_" + _MIXED[:40], "GC_TOKEN=sandbox_" + _MIXED[:38] + "_-"),
        near_misses=(
            "live_" + "a_variable_whose_name_is_forty_five_long"[:40],
            "live_" + _MIXED[:50],
            "sandbox_mode",
        ),
    ),
    Rule(
        "mollie-lob",
        value=rf"{LEFT}(?:live|test)_(?:[A-Za-z0-9]{{30}}|[0-9a-z]{{35}})(?![A-Za-z0-9_-])",
        anchors=("live_", "test_"),
        checks=(random_looking,),
        description="Keys of Mollie and Lob",
        source="Mollie: live_ or test_ and 30 characters; Lob: 35 hexadecimal digits",
        examples=("live_" + _MIXED[:30], "LOB_KEY=test_" + "canary12" * 4 + "abc"),
        near_misses=("test_" + "a" * 30, "test_the_thirty_characters_of_a_name", "test_" + _MIXED[:33]),
    ),
    Rule(
        "shippo-duffel",
        value=rf"{LEFT}(?:shippo|duffel)_(?:live|test)_{UNMASKED}[A-Za-z0-9_=-]{{24,}}",
        anchors=("shippo_live_", "shippo_test_", "duffel_live_", "duffel_test_"),
        checks=(random_looking,),
        description="Shippo and Duffel tokens",
        source="the documentation of both: the name, live or test, and 40 or 43 characters",
        examples=("shippo_live_" + "canary12" * 5, "DUFFEL=duffel_test_" + _CANARY[:43]),
        near_misses=("shippo_test_token", "duffel_test_an_offer_with_two_passengers_of_age"),
    ),
    Rule(
        "razorpay",
        value=rf"{LEFT}rzp_(?:live|test)_{UNMASKED}[A-Za-z0-9]{{12,}}",
        anchors=("rzp_live_", "rzp_test_"),
        description="Razorpay key ids",
        source="Razorpay's documentation of API keys: rzp_live_ or rzp_test_ and 14 characters",
        examples=("rzp_live_" + "Canary12" + "AbCdEf", "key=rzp_test_" + "Canary12" + "AbCdEf" + "\n"),
        near_misses=("rzp_live_id", "rzp_test_" + "x" * 14),
    ),
    Rule(
        "paddle",
        value=rf"{LEFT}pdl_(?:live_|sdbx_)?(?:apikey|ntfset)_{UNMASKED}[A-Za-z0-9_+/=-]{{24,}}",
        anchors=("pdl_",),
        description="Paddle API keys and webhook secrets",
        source="Paddle's documentation of API keys",
        examples=("pdl_live_apikey_" + _CANARY, "secret=pdl_ntfset_" + _CANARY),
        near_misses=("pdl_live_apikey_id", "pdl_sdbx_apikey_" + "x" * 40),
    ),
    Rule(
        "payment-provider",
        value=(
            rf"{LEFT}(?:polar_(?:oat|pat|at|rt|cs|whs)_{UNMASKED}[A-Za-z0-9]{{24,}}"
            rf"|xnd_(?:production|development)_{UNMASKED}[A-Za-z0-9]{{20,}}"
            rf"|cfsk_ma_(?:prod|test)_{UNMASKED}[A-Za-z0-9_]{{20,}}"
            rf"|skey_(?:test_)?{UNMASKED}[A-Za-z0-9]{{16,}}"
            rf"|sk_sbox_{UNMASKED}[A-Za-z0-9]{{20,}}"
            rf"|(?:SB-)?Mid-server-{UNMASKED}[A-Za-z0-9_-]{{16,}})"
        ),
        anchors=("polar_", "xnd_", "cfsk_ma_", "skey_", "sk_sbox_", "Mid-server-"),
        description="Secret keys of Polar, Xendit, Cashfree, Omise, Checkout.com and Midtrans",
        source="the documentation of each: a prefix of its own",
        examples=(
            "polar_oat_" + _CANARY,
            "xnd_production_" + _CANARY,
            "cfsk_ma_prod_" + "canary12" * 4 + "_0123abcd",
            "skey_test_" + "canary12" * 3,
            "sk_sbox_" + "canary12" * 3,
            "SB-Mid-server-" + "Canary12" * 3,
        ),
        near_misses=("polar_pat_coordinates", "skey_" + "x" * 20, "xnd_production_key", "Mid-server-key"),
    ),
)
