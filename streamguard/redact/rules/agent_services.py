"""Keys of the services that agents use: search, browsers, sandboxes, memory, traces, speech.

Exa, SerpAPI, Serper and Deepgram give out UUIDs or plain digits: those are found by the name
they are assigned to.
"""

from __future__ import annotations

from streamguard.redact.checks import genuine, opaque
from streamguard.redact.rule import Rule
from streamguard.redact.rules.boundary import LEFT, STRICT_LEFT, UNMASKED

__all__ = ["AGENT_SERVICES", "NO_HASH"]

NO_HASH = "(?<!sha256=)"
"""Before a token with a short prefix: a wheel's RECORD lists hashes in the letters of a key."""

_CANARY = "Canary12" * 6
_HEX = "c0canary" * 8
_UUID = "[A-Za-z0-9]{8}(?:-[A-Za-z0-9]{4}){3}-[A-Za-z0-9]{12}"
_FAL = r"""(?:FAL_KEY|fal_key|[Aa]uthorization)\\?["']?[ \t]{0,4}[:=][ \t]{0,4}\\?["']?(?:Key[ ])?"""

AGENT_SERVICES = (
    Rule(
        "langfuse",
        value=rf"{LEFT}sk-lf-{UNMASKED}[A-Za-z0-9]{{8}}-[A-Za-z0-9][A-Za-z0-9-]{{8,}}",
        anchors=("sk-lf-",),
        description="Langfuse secret keys; public ones, pk-lf-, are left",
        source="Langfuse's documentation: sk-lf- and a UUID",
        examples=(
            "sk-lf-c0canary-" + "1234-4abc-8def-c0canary0123",
            "LANGFUSE_SECRET_KEY=sk-lf-c0canary-" + "1234-4abc-8def-c0canary0123\n",
        ),
        near_misses=(
            "sk-lf-...",
            "sk-lf-" + "x" * 8 + "-xxxx-xxxx",
            "pk-lf-01234567-" + "89ab-4cde-8f01-23456789abcd",
        ),
    ),
    Rule(
        "langsmith",
        value=rf"{LEFT}(?:lsv2_(?:pt|sk)_|ls__){UNMASKED}[A-Za-z0-9]{{20,}}(?:_[A-Za-z0-9]+)?",
        anchors=("lsv2_pt_", "lsv2_sk_", "ls__"),
        description="LangSmith API keys of people and services",
        source="LangSmith's documentation: lsv2_pt_ and lsv2_sk_, 32 and 10 hexadecimal digits; ls__ before",
        examples=("lsv2_pt_" + _HEX[:32] + "_c0canary01", "LANGSMITH_API_KEY=ls__" + _HEX[:32]),
        near_misses=(
            "lsv2_pt_...",
            "lsv2_sk_" + "x" * 32 + "_" + "x" * 10,
            "ls__init_subclass__",
            "cells__" + "a" * 30,
        ),
    ),
    Rule(
        "elevenlabs",
        value=rf"{LEFT}{NO_HASH}sk_{UNMASKED}[A-Za-z0-9]{{30,}}",
        anchors=("sk_",),
        description="Keys of sk_ and an unbroken run: ElevenLabs, Novita and others",
        source="ElevenLabs' documentation: sk_ and 48 hexadecimal digits",
        examples=("sk_" + _HEX[:48], "xi-api-key: sk_" + _HEX[:48]),
        near_misses=("sk_buff_head_init", "sk_" + "x" * 48, "task_" + "a" * 40, "sk_" + "short1"),
    ),
    Rule(
        "tavily",
        value=rf"{LEFT}tvly-(?:(?:dev|prod)-)?{UNMASKED}(?:[A-Za-z0-9]{{1,8}}-)?[A-Za-z0-9]{{16,}}[A-Za-z0-9_-]*",
        anchors=("tvly-",),
        description="Tavily API keys",
        source="Tavily's documentation: tvly-, tvly-dev-, tvly-prod- and 32 characters or more",
        examples=(
            "tvly-" + _CANARY[:32],
            "TAVILY_API_KEY=tvly-dev-" + _CANARY[:32],
            "tvly-prod-Canary-" + _CANARY[:32],
        ),
        near_misses=(
            "tvly-YOUR_API_KEY",
            "tvly-" + "x" * 32,
            "tvly-dev-...",
            "tvly-your-tavily-api-key-here",
        ),
    ),
    Rule(
        "wandb",
        value=rf"{LEFT}wandb_v1_{UNMASKED}[A-Za-z0-9_]{{24,}}",
        anchors=("wandb_v1_",),
        description="Weights & Biases API keys with a prefix",
        source="Weights & Biases: wandb_v1_ and 77 characters; keys of 40 digits are found by their name",
        examples=("wandb_v1_" + _CANARY + "_" + _CANARY, "WANDB_API_KEY=wandb_v1_" + _CANARY),
        near_misses=("wandb_v1_...", "wandb_v1_" + "x" * 77, "my_wandb_v1_" + "a" * 40),
    ),
    Rule(
        "pinecone",
        value=rf"{LEFT}pcsk_{UNMASKED}[A-Za-z0-9]{{3,8}}_[A-Za-z0-9]{{20,}}",
        anchors=("pcsk_",),
        description="Pinecone API keys",
        source="Pinecone's console: pcsk_, five or six characters, an underscore and 63 characters",
        examples=("pcsk_cAn4r_" + _CANARY, '"Api-Key": "pcsk_cAn4r_' + _CANARY + '"'),
        near_misses=("pcsk_...", "pcsk_" + "x" * 6 + "_" + "x" * 60, "pcsk_your_pinecone_api_key"),
    ),
    Rule(
        "llamacloud",
        value=rf"{LEFT}llx-{UNMASKED}[A-Za-z0-9]{{24,}}",
        anchors=("llx-",),
        description="LlamaCloud and LlamaParse API keys",
        source="LlamaIndex's documentation: llx- and 48 letters and digits",
        examples=("llx-" + _CANARY, "LLAMA_CLOUD_API_KEY=llx-" + _CANARY),
        near_misses=("llx-...", "llx-" + "x" * 48, "llx-your-key-here"),
    ),
    Rule(
        "voyage",
        # Two letters and a hyphen begin many words: the length is the official one, exactly.
        value=rf"{STRICT_LEFT}(?:pa|al)-[A-Za-z0-9_-]{{43}}(?![A-Za-z0-9_-])",
        anchors=("pa-", "al-"),
        checks=(opaque,),
        description="Voyage AI API keys",
        source="Voyage's dashboard: pa- and 43 characters; al- for MongoDB Atlas",
        examples=("pa-" + _CANARY[:43], "VOYAGE_API_KEY=al-" + _CANARY[:20] + "_" + _CANARY[:22]),
        near_misses=(
            "pa-system-for-very-large-halls-and-open-air-fields",
            "grandpa-" + _CANARY[:43],
            "pa-" + "x" * 43,
        ),
    ),
    Rule(
        "jina",
        value=rf"{LEFT}jina_{UNMASKED}[A-Za-z0-9]{{24,}}[A-Za-z0-9_-]*",
        anchors=("jina_",),
        description="Jina AI API keys",
        source="Jina's dashboard: jina_ and 60 characters, the first 32 hexadecimal digits",
        examples=("jina_" + _HEX[:32] + "-_" + _CANARY[:26], "Bearer jina_" + _HEX[:32] + _CANARY[:28]),
        near_misses=("jina_embeddings_v3_base", "jina_" + "x" * 60, "jina_..."),
    ),
    Rule(
        "fal",
        context=_FAL,
        value=rf"{_UUID}:[A-Za-z0-9]{{12,}}",
        anchors=("FAL_KEY", "fal_key", "uthorization"),
        description="fal keys: an id and a secret",
        source="fal's documentation: FAL_KEY is a UUID, a colon and 32 hexadecimal digits",
        examples=(
            "FAL_KEY=01234567-89ab-4cde-8f01-23456789abcd:" + _HEX[:32],
            "Authorization: Key c0canary-89ab-4cde-8f01-23456789abcd:" + _HEX[:32],
        ),
        near_misses=("FAL_KEY=<key id>:<key secret>", "FAL_KEY=$FAL_KEY", "Authorization: Key xxxxxxxx-xxxx"),
    ),
    Rule(
        "firecrawl",
        value=rf"{STRICT_LEFT}fc-[a-z0-9]{{32}}(?![A-Za-z0-9_-])",
        anchors=("fc-",),
        checks=(opaque,),
        description="Firecrawl API keys",
        source="Firecrawl's documentation: fc- and 32 hexadecimal digits",
        examples=(
            "fc-" + "0canary4d1e8f63b95a7c2de8f6a1b37",
            "FIRECRAWL_API_KEY=fc-" + "0canary4d1e8f63b95a7c2de8f6a1b37" + "\n",
        ),
        near_misses=("fc-YOUR_API_KEY", "rfc-" + "a1" * 16, "fc-" + "x" * 32, "fc-cache", "fc-" + "a" * 64),
    ),
    Rule(
        "e2b",
        value=rf"{LEFT}(?:e2b|sk_e2b)_{UNMASKED}[A-Za-z0-9]{{20,}}",
        anchors=("e2b_", "sk_e2b_"),
        description="E2B API keys and access tokens",
        source="E2B's documentation: e2b_ and sk_e2b_, 40 hexadecimal digits",
        examples=("e2b_" + _HEX[:40], "E2B_ACCESS_TOKEN=sk_e2b_" + _HEX[:40]),
        near_misses=("e2b_code_interpreter", "e2b_" + "x" * 40, "e2b_***"),
    ),
    Rule(
        "browserbase",
        value=rf"{LEFT}bb_(?:live|test)_{UNMASKED}[A-Za-z0-9_-]{{16,}}",
        anchors=("bb_live_", "bb_test_"),
        description="Browserbase API keys",
        source="Browserbase's dashboard: bb_live_ and 27 characters",
        examples=("bb_live_" + _CANARY[:27], "X-BB-API-Key: bb_test_" + _CANARY[:27]),
        near_misses=("bb_live_score", "bb_live_" + "x" * 27, "bb_test_case_1"),
    ),
    Rule(
        "mem0",
        value=rf"{STRICT_LEFT}m0-[A-Za-z0-9]{{40}}(?![A-Za-z0-9_-])",
        anchors=("m0-",),
        checks=(genuine,),
        description="Mem0 API keys",
        source="Mem0's dashboard: m0- and 40 letters and digits",
        examples=("m0-" + _CANARY[:40], "MEM0_API_KEY=m0-" + _CANARY[:40] + ";"),
        near_misses=("m0-your-api-key", "m0-" + "x" * 40, "wasm0-" + "a1" * 20, "m0-" + "a1" * 30),
    ),
    Rule(
        "sourcegraph",
        value=rf"{LEFT}(?:sgph?_(?:(?:[A-Za-z0-9]{{16}}|local)_)?|sgd_|slk_){UNMASKED}[A-Za-z0-9]{{32,}}",
        anchors=("sgp_", "sgph_", "sgd_", "slk_"),
        description="Sourcegraph and Cody access tokens",
        source="Sourcegraph's token generator: sgp_, the instance, 40 hexadecimal digits; also sgd_, slk_",
        examples=(
            "sgp_" + _HEX[:40],
            "sgp_local_" + _HEX[:40],
            "sgph_c0canary00c0ffee_" + _HEX[:40],
            "sgd_" + _HEX[:64],
        ),
        near_misses=(
            "sgp_...",
            "sgp_" + "x" * 40,
            "msgp_" + "a" * 40,
            "sgp_local_repository_name",
            "sgp_tool_" + "canary12" * 5,
        ),
    ),
    Rule(
        "context7",
        value=rf"{LEFT}ctx7sk-{UNMASKED}[A-Za-z0-9-]{{20,}}",
        anchors=("ctx7sk-",),
        description="Context7 API keys",
        source="Upstash's documentation of Context7: ctx7sk- and a UUID",
        examples=("ctx7sk-c0canary-" + "1234-4abc-8def-c0canary0123", "--api-key ctx7sk-" + _CANARY),
        near_misses=("ctx7sk-...", "ctx7sk-" + "x" * 36, "ctx7sk-key"),
    ),
    Rule(
        "exa",
        # The prefixes are shown: many words begin like them, and would be held for that long.
        context=rf"{LEFT}(?:exa|fal)_",
        value=rf"{UNMASKED}[A-Za-z0-9]{{20,}}",
        anchors=("exa_", "fal_"),
        description="Keys of Exa and fal with a prefix, as some gateways hand them out",
        source="the forms that agents' own redaction lists: exa_, fal_",
        examples=("exa_" + _CANARY[:24], "FAL=fal_" + _CANARY[:24]),
        near_misses=("exa_search_and_contents", "exa_" + "x" * 24, "hexa_" + "a" * 30, "fal_ai_client"),
    ),
    Rule(
        "brave",
        # Three letters: the length is the official one, exactly.
        value=rf"{STRICT_LEFT}BSA[A-Za-z0-9_-]{{28}}(?![A-Za-z0-9_-])",
        anchors=("BSA",),
        checks=(opaque,),
        description="Brave Search API keys",
        source="Brave's dashboard: BSA and 28 characters",
        examples=(
            "BSA" + "Canary0qWe7rTy2uIo5pAs9dFg3h",
            "X-Subscription-Token: BSA" + "iCanary0qWe7rTy2uIo5pAs9dFg3",
        ),
        near_misses=(
            "BSA protein assay",
            "BSA" + "x" * 28,
            "BSA-bovine-serum-albumin-0001x",
            "USBSA" + "a1" * 14,
        ),
    ),
)
