"""Keys of model providers, and of the services that agents use.

Mistral, Cohere, AssemblyAI and others give out keys without a prefix: those are found by the
name they are assigned to. DeepSeek, Moonshot, DashScope, Stability and most gateways took over
`sk-` from OpenAI.
"""

from __future__ import annotations

from streamguard.redact.checks import opaque
from streamguard.redact.rule import Rule
from streamguard.redact.rules.agent_services import AGENT_SERVICES, NO_HASH
from streamguard.redact.rules.boundary import LEFT, STRICT_LEFT, UNMASKED

__all__ = ["LLM"]

_CANARY = "Canary12" * 6
_HEX = "c0canary" * 8

LLM = (
    Rule(
        "anthropic",
        value=rf"{LEFT}sk-ant-{UNMASKED}[A-Za-z0-9_-]{{20,}}",
        anchors=("sk-ant-",),
        description="Anthropic API, admin and OAuth keys",
        source="Anthropic's documentation: sk-ant-api03-, sk-ant-admin01-, sk-ant-oat01-",
        examples=(
            "sk-ant-" + "api03-" + _CANARY,
            '{"x-api-key": "sk-ant-' + "admin01-" + _CANARY + '"}',
            r'"line\nsk-ant-' + "oat01-" + _CANARY + '"',
            "ANTHROPIC_API_KEY=sk-ant-" + _CANARY,
        ),
        near_misses=("sk-ant-api03-...", "task-ant-colony-" + "optimisation" * 2, "sk-ant-" + "x" * 40),
    ),
    Rule(
        "openrouter",
        value=rf"{LEFT}sk-or-(?:v[0-9]-)?{UNMASKED}[A-Za-z0-9]{{20,}}",
        anchors=("sk-or-",),
        description="OpenRouter API and provisioning keys",
        source="OpenRouter's list of secret formats: sk-or-v1- and 64 hexadecimal digits",
        examples=("sk-or-v1-" + _HEX, 'OPENROUTER_API_KEY="sk-or-v1-' + _HEX + '"'),
        near_misses=("sk-or-v1-...", "sk-or-v1-" + "x" * 64, "task-or-" + "a" * 30, "sk-or-something-else"),
    ),
    Rule(
        "openai-project",
        value=rf"{LEFT}sk-(?:proj|svcacct|admin|service|None)-{UNMASKED}[A-Za-z0-9_-]{{20,}}",
        anchors=("sk-proj-", "sk-svcacct-", "sk-admin-", "sk-service-", "sk-None-"),
        description="OpenAI keys of projects, service accounts and administrators",
        source="OpenAI's documentation of project and admin keys",
        examples=(
            "sk-proj-" + _CANARY,
            "key%3Dsk-svcacct-" + _CANARY + "%26",
            r"key\u003dsk-admin-" + _CANARY,
            "\x1b[32msk-None-" + _CANARY + "\x1b[0m",
        ),
        near_misses=("sk-proj-short", "disk-proj-" + "a" * 30, "sk-proj-" + "X" * 48, "sk-proj-..."),
    ),
    Rule(
        "openai-legacy",
        value=rf"{STRICT_LEFT}{NO_HASH}sk-{UNMASKED}[A-Za-z0-9]{{32,}}",
        anchors=("sk-",),
        description="Keys of sk- and an unbroken run: OpenAI before projects, and providers like it",
        source="the form many providers took over from OpenAI: sk- and 32 or 48 letters and digits",
        examples=("sk-" + _CANARY, "key: sk-" + "canarycan" * 4 + ", next"),
        near_misses=("sk-" + "x" * 48, "disk-" + "a" * 40, "sk-learn", "path/sk-" + "a" * 40),
    ),
    Rule(
        "openai-like",
        value=rf"{STRICT_LEFT}{NO_HASH}sk-(?:[a-z0-9]{{1,8}}-){{0,3}}[A-Za-z0-9_-]{{20,}}",
        anchors=("sk-",),
        checks=(opaque,),
        description="Other keys that begin with sk-",
        source="gateways and providers whose keys begin as OpenAI's do: sk-or-v1-, sk-lf-, sk-sp-",
        examples=("sk-or-v1-" + "canary0123456789ab" * 4, "sk-canaryABC-defgh_1234567890jkl"),
        near_misses=(
            "sk-toggleable__label-arrow-before",
            "sk-test-token-for-documentation-only",
            "sk-" + "a" * 24,
            "x.py,sha256=sk-sH1I6OL_lOn3fntKGV6drtVxKqLCuXK7yOyLb" + "TxA,959",
            "sk-1234567",
        ),
    ),
    Rule(
        "groq",
        value=rf"{LEFT}gsk_{UNMASKED}[A-Za-z0-9]{{20,}}",
        anchors=("gsk_",),
        description="Groq API keys",
        source="Groq's console: gsk_ and 52 letters and digits",
        examples=("gsk_" + _CANARY, "GROQ_API_KEY=gsk_" + _CANARY + "\n"),
        near_misses=("gsk_render_node_get_node_type", "gsk_" + "x" * 52, "gsk_...", "my_gsk_" + "a" * 30),
    ),
    Rule(
        "xai",
        value=rf"{LEFT}xai-{UNMASKED}[A-Za-z0-9_]{{24,}}",
        anchors=("xai-",),
        description="xAI API and management keys",
        source="xAI's documentation: xai- and 80 letters and digits, xai-token- for management",
        examples=("xai-" + _CANARY, '"XAI_API_KEY": "xai-' + _CANARY + '"'),
        near_misses=("xai-org/grok-prompts", "xai-" + "x" * 80, "xai-explainability-methods", "xai-your-key"),
    ),
    Rule(
        "huggingface",
        value=rf"{LEFT}{NO_HASH}(?:hf|api_org)_{UNMASKED}[A-Za-z0-9]{{26,}}",
        anchors=("hf_", "api_org_"),
        description="Hugging Face tokens of users and organisations",
        source="Hugging Face's documentation: hf_ and 34 letters; api_org_ before",
        examples=(
            "hf_" + _CANARY[:34],
            "api_org_" + _CANARY[:34] + " ",
            "//bob:hf_" + _CANARY[:34] + "@huggingface.co",
        ),
        near_misses=(
            "hf_hub_download",
            "hf_" + "x" * 34,
            "hf_your_token_here",
            "shelf_" + "a" * 40,
            "hf_...",
        ),
    ),
    Rule(
        "replicate",
        value=rf"{LEFT}{NO_HASH}r8_{UNMASKED}[A-Za-z0-9]{{30,}}",
        anchors=("r8_",),
        description="Replicate API tokens",
        source="Replicate's documentation: r8_ and 37 letters and digits",
        examples=("r8_" + _CANARY[:37], "Token r8_" + _CANARY[:37]),
        near_misses=("r8_unorm_srgb", "r8_" + "x" * 37, "VK_FORMAT_R8_" + "A" * 30, "r8_..."),
    ),
    Rule(
        "perplexity",
        value=rf"{LEFT}pplx-{UNMASKED}[A-Za-z0-9]{{20,}}",
        anchors=("pplx-",),
        description="Perplexity API keys",
        source="Perplexity's documentation: pplx- and 48 letters and digits",
        examples=("pplx-" + _CANARY, "Bearer pplx-" + _CANARY),
        near_misses=("pplx-7b-online", "pplx-" + "x" * 48, "pplx-embed-context-v1"),
    ),
    Rule(
        "together",
        value=rf"{LEFT}tgp_v1_{UNMASKED}[A-Za-z0-9_-]{{20,}}",
        anchors=("tgp_v1_",),
        description="Together AI API keys",
        source="Together's console: tgp_v1_ and 43 characters",
        examples=("tgp_v1_" + _CANARY[:43], "TOGETHER_API_KEY=tgp_v1_" + _CANARY[:20] + "-_" + _CANARY[:21]),
        near_misses=("tgp_v1_...", "tgp_v1_" + "x" * 43),
    ),
    Rule(
        "fireworks",
        value=rf"{LEFT}{NO_HASH}(?:fw|fpk)_[A-Za-z0-9]{{22,}}(?![A-Za-z0-9_-])",
        anchors=("fw_", "fpk_"),
        checks=(opaque,),
        description="Fireworks AI API keys",
        source="Fireworks' console: fw_ and 22 to 24 letters and digits, fpk_ for projects",
        examples=("fw_" + "3cAnary0Canary4xQ2mW9z", "FIREWORKS_API_KEY=fpk_" + "3cAnary0Canary4xQ2mW9z\n"),
        near_misses=(
            "fw_attn_kernel",
            "fw_" + "x" * 24,
            "fw_" + "loadConfigurationFromFlash",
            "fw_update_v2",
        ),
    ),
    Rule(
        "gemini",
        value=rf"{LEFT}AQ\.Ab{UNMASKED}[A-Za-z0-9_-]{{30,}}",
        anchors=("AQ.Ab",),
        description="Google authorisation keys of the Gemini API",
        source="Google AI Studio: AQ.Ab8RN6 and 44 characters; keys of the older form are google-api-key",
        examples=("AQ.Ab8RN6" + _CANARY[:44], "x-goog-api-key: AQ.Ab8RN6" + _CANARY[:44]),
        near_misses=("AQ.Abstract", "FAQ.Ab" + "a" * 40, "AQ.Ab" + "x" * 48),
    ),
    Rule(
        "cerebras",
        value=rf"{LEFT}csk-{UNMASKED}[A-Za-z0-9]{{26,}}",
        anchors=("csk-",),
        description="Cerebras API keys",
        source="Cerebras' console: csk- and 48 letters and digits",
        examples=("csk-" + _CANARY, "CEREBRAS_API_KEY=csk-" + _CANARY),
        near_misses=("csk-learn", "csk-" + "x" * 48, "csk-chennai-super-kings"),
    ),
    Rule(
        "nvidia",
        value=rf"{LEFT}nvapi-{UNMASKED}[A-Za-z0-9_-]{{20,}}",
        anchors=("nvapi-",),
        description="NVIDIA API keys, NIM and NGC",
        source="NVIDIA's documentation: nvapi- and 64 characters",
        examples=("nvapi-" + _CANARY, "NVIDIA_API_KEY=nvapi-" + _CANARY[:30] + "-_" + _CANARY[:30]),
        near_misses=("nvapi-...", "nvapi-" + "x" * 64, "libnvapi-" + "a" * 30),
    ),
    Rule(
        "cursor",
        value=rf"{LEFT}crsr_{UNMASKED}[A-Za-z0-9]{{24,}}",
        anchors=("crsr_",),
        description="Cursor API keys",
        source="Cursor's dashboard: crsr_ and 64 hexadecimal digits",
        examples=("crsr_" + _HEX, "CURSOR_API_KEY=crsr_" + _HEX),
        near_misses=("crsr_pos_x", "crsr_" + "x" * 64),
    ),
    Rule(
        "anyscale",
        value=rf"{LEFT}esecret_{UNMASKED}[A-Za-z0-9]{{16,}}",
        anchors=("esecret_",),
        description="Anyscale API keys",
        source="Anyscale's documentation: esecret_ and letters and digits",
        examples=("esecret_" + _CANARY[:26], "ANYSCALE_API_KEY=esecret_" + _CANARY[:26]),
        near_misses=("esecret_...", "esecret_" + "x" * 26, "updatesecret_" + "a" * 30),
    ),
    Rule(
        "runpod",
        value=rf"{LEFT}rpa_{UNMASKED}[A-Za-z0-9]{{24,}}",
        anchors=("rpa_",),
        description="RunPod API keys",
        source="RunPod's console: rpa_ and 46 letters and digits",
        examples=("rpa_" + "CANARY12" * 5, "RUNPOD_API_KEY=rpa_" + "CANARY12" * 5 + "ab"),
        near_misses=("rpa_robot_task", "rpa_" + "X" * 46, "grpa_" + "A" * 46),
    ),
    *AGENT_SERVICES,
)
