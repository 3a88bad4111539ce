"""Keys of cloud providers."""

from __future__ import annotations

from streamguard.redact.checks import base64_key, genuine, random_looking
from streamguard.redact.placeholder import PLACEHOLDER
from streamguard.redact.rule import Rule
from streamguard.redact.rules.boundary import LEFT, STRICT_LEFT, UNMASKED, spellings

__all__ = ["CLOUDS"]

_SECRET_NAME = f"(?:{spellings('secret', 'access', 'key')}|{spellings('aws', 'secret', 'key')})"

_SECRET = "Canary+/0123456789abcdefghijkl" + "MNOPQRSTUV"

_CANARY = "Canary12" * 6
_MIXED = "Canary12" + "BdEfGh34JkLm56NpQr78StUvWx90zZ"

_AZURE = "[A-Za-z0-9_~.-]"
# Three characters that no word goes on to, unless it is an escape as in LEFT.
_AZURE_LEFT = "|".join(
    [
        rf"(?<={_AZURE}{{3}})(?<!{_AZURE}{{4}})",
        rf"(?<=(?:\\[nrtbf]){_AZURE}{{3}})",
        rf"(?<=%[0-9A-Fa-f]{{2}}{_AZURE}{{3}})",
        rf"(?<=\\x[0-9A-Fa-f]{{2}}{_AZURE}{{3}})",
        rf"(?<=u[0-9A-Fa-f]{{4}}{_AZURE}{{3}})",
        *(rf"(?<=\[[0-9;]{{{width}}}m{_AZURE}{{3}})" for width in (1, 2)),
        rf"(?<=[0-9;]{{4}}m{_AZURE}{{3}})",
    ]
)

_MARK = r"""(?:\\?["'`])"""

CLOUDS = (
    Rule(
        "aws-access-key-id",
        value=rf"{LEFT}(?:A3T[A-Z0-9]|AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{{16}}(?![A-Za-z0-9])",
        anchors=("A3T", "AKIA", "ASIA", "ABIA", "ACCA"),
        checks=(genuine,),
        description="AWS access key ids",
        source="AWS documentation of unique identifier prefixes",
        examples=("AKIA" + "CANARY12" * 2, "aws_access_key_id = ASIA" + "CANARY23" * 2 + "\n"),
        near_misses=(
            "AKIA" + "IOSFODNN7" + "EXAMPLE",
            "AKIA" + "X" * 16,
            "AKIA" + "CANARY12" * 3,
            "TODAYINASIA" + "ABCDEFGHIJKLMNOP",
        ),
    ),
    Rule(
        "aws-secret-key",
        # The command line's own tool asks with what it knows already: `[None]:`.
        context=(
            rf"""{_SECRET_NAME}(?:\\?["']?[ \t]{{0,8}}(?:=>|[:=]{{1,2}}|,)[ \t]{{0,8}}\\?["']?"""
            r"""|[ ]\[(?:None|[*]+[A-Za-z0-9/+]{0,4})\]:[ ])"""
        ),
        value=r"[A-Za-z0-9/+]{40}(?![A-Za-z0-9/+=])",
        anchors=("ecret", "ECRET"),
        checks=(base64_key,),
        description="AWS secret access keys, next to their name only",
        source="AWS documentation: 40 characters of base64; alone they look like a commit hash",
        examples=(
            "aws_secret_access_key = " + _SECRET,
            '{"SecretAccessKey": "' + _SECRET + '", "Expiration": 1}',
            "AWS_SECRET_KEY=" + _SECRET,
            "AWS Secret Access Key [None]: " + _SECRET + "\n",
            "AWS Secret Access Key [****************MnOp]: " + _SECRET + "\n",
        ),
        near_misses=(
            "aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/" + "bPxRfiCYEXAMPLEKEY",
            "commit 4b825dc642cb6eb9a060e54bf8d69288fbee4904",
        ),
    ),
    Rule(
        "aws-secret-key-paired",
        # The id has been taken out before it: what stands there is its placeholder.
        # Prose goes on behind a blank: it is not waited for.
        context=(
            rf"{PLACEHOLDER}(?:[*`]{{0,2}}[ ]?\|[ ][*`]{{0,2}}|[,:;/]"
            rf"|{_MARK}[,:]?\s*{_MARK}|(?:\\n|\r?\n|\t)[ \t]*)"
        ),
        value=r"[A-Za-z0-9/+]{40}(?![A-Za-z0-9/+=])",
        anchors=("[REDACTED:",),
        checks=(base64_key,),
        description="AWS secret access keys, right behind a key id that has been redacted",
        source="the file of credentials that AWS hands out, constructors of its libraries",
        examples=(
            "[REDACTED:aws-access-key-id:0123abcd]," + _SECRET + "\n",
            "[REDACTED:aws-access-key-id]:" + _SECRET,
            'Credentials("[REDACTED:aws-access-key-id:0123abcd]", "' + _SECRET + '")',
            "| [REDACTED:aws-access-key-id:0123abcd] | " + _SECRET + " |",
        ),
        near_misses=(
            "[REDACTED:email], 4b825dc642cb6eb9a060e54bf8d69288fbee4904",
            "[REDACTED:aws-access-key-id:0123abcd],wJalrXUtnFEMI/K7MDENG/" + "bPxRfiCYEXAMPLEKEY",
        ),
    ),
    Rule(
        "aws-session-token",
        value=rf"{LEFT}(?:IQoJb3JpZ2lu|F[wQ]oGZXIvYXdz|FQoDYXdz)[A-Za-z0-9+/%=_-]{{20,}}",
        anchors=("IQoJb3JpZ2lu", "oGZXIvYXdz", "FQoDYXdz"),
        description="AWS session tokens, encoded for an address or not",
        source="AWS Security Token Service: the base64 of a header that names its origin",
        examples=(
            "aws_session_token = IQoJb3JpZ2lu" + "X2Vj" + _CANARY,
            "&X-Amz-Security-Token=FwoGZXIvYXdz" + "%2F" + _CANARY + "&next=1",
        ),
        near_misses=("IQoJb3JpZ2lu", "IQoJb3JpZ2lu...", "IQoJ" + "Q2Fu" * 12),
    ),
    Rule(
        "aws-bedrock",
        value=(
            rf"{LEFT}(?:ABSK[A-Za-z0-9+/]{{40,}}={{0,2}}"
            r"|bedrock-api-key-YmVkcm9j[A-Za-z0-9+/=_-]{10,})"
        ),
        anchors=("ABSK", "bedrock-api-key-YmVkcm9j"),
        description="Amazon Bedrock API keys, long-lived and short-lived",
        source="Amazon Bedrock user guide, API keys",
        examples=("ABSK" + _CANARY + "==", "bedrock-api-key-YmVkcm9j" + _CANARY),
        near_misses=("ABSK" + "Short" * 4, "bedrock-api-key-management-for-administrators"),
    ),
    Rule(
        "aws-service-key",
        value=(
            rf"{LEFT}amzn\.mws\.[A-Za-z0-9-]{{24,}}"
            rf"|{STRICT_LEFT}da2-[a-z0-9]{{26}}(?![A-Za-z0-9_-])"
        ),
        anchors=("amzn.mws.", "da2-"),
        checks=(random_looking,),
        description="Keys of Amazon Marketplace Web Service and AWS AppSync",
        source="Amazon MWS developer guide: amzn.mws. and a UUID; AWS AppSync guide: da2- and 26 characters",
        examples=("amzn.mws." + "canary12-1234-1234-1234-canary123456", "da2-" + "canary12" * 3 + "ab"),
        near_misses=("amzn.mws.auth-token", "da2-short", "da2-" + "abcdefghijklmnopqrstuvwxyz"),
    ),
    Rule(
        "google-api-key",
        value=rf"{LEFT}AIza{UNMASKED}[A-Za-z0-9_-]{{30,}}",
        anchors=("AIza",),
        description="Google API keys",
        source="Google Cloud documentation of API keys: AIza and 35 characters",
        examples=("AIza" + "Canary1" * 5, "https://maps.example.com/api?key=AIza" + "Canary1" * 5 + "&v=3"),
        near_misses=("AIza", "AIza" + "x" * 35, "AIza" + "short" * 3),
    ),
    Rule(
        "google-oauth",
        value=(
            rf"{LEFT}(?:(?:ya29\.|GOCSPX-){UNMASKED}[A-Za-z0-9_-]{{20,}}(?:\.[A-Za-z0-9_-]+)?"
            r"|1//0[A-Za-z0-9_-]{40,})"
        ),
        anchors=("ya29.", "GOCSPX-", "1//0"),
        description="Google OAuth access tokens, refresh tokens and client secrets",
        source="Google Identity documentation: ya29., 1//0, GOCSPX-",
        examples=(
            "ya29." + "Canary12" * 10,
            '"client_secret":"GOCSPX-' + "Canary1" * 4 + '"',
            "1//0" + "Canary12" * 6,
        ),
        near_misses=("ya29.short", "GOCSPX-" + "x" * 28, "1//0 means one"),
    ),
    Rule(
        "google-messaging",
        context=":",
        value=rf"APA91b{UNMASKED}[A-Za-z0-9_-]{{30,}}",
        anchors=("APA91b",),
        description="Server keys and registration tokens of Firebase Cloud Messaging, after their name",
        source="Firebase Cloud Messaging documentation",
        examples=("Authorization: key=AAAAabcdefg:APA91b" + _CANARY, '"to": "fAbC:APA91b' + _CANARY + '"'),
        near_misses=(":APA91b", ":APA91b" + "x" * 134),
    ),
    Rule(
        "google-hmac-key-id",
        value=rf"{LEFT}GOOG1E[A-Z0-9]{{24,}}",
        anchors=("GOOG1E",),
        description="Access ids of Google Cloud Storage's HMAC keys",
        source="Cloud Storage documentation of HMAC keys: GOOG1E, 61 characters for a service account",
        examples=("GOOG1E" + "CANARY12" * 4, "access_key=GOOG1E" + "CANARY12" * 6 + "\n"),
        near_misses=("GOOG1E", "GOOG1E" + "X1" * 8),
    ),
    Rule(
        "azure-account-key",
        context=r"(?:AccountKey|SharedAccessKey|SharedSecret|accesskey|AccessKey)=",
        value=rf"{UNMASKED}[A-Za-z0-9+/]{{40,}}={{0,2}}",
        anchors=("AccountKey=", "SharedAccessKey=", "SharedSecret=", "accesskey=", "AccessKey="),
        description="Keys inside the connection strings of Azure services",
        source="Azure documentation of connection strings: Storage, Service Bus, IoT Hub, Cosmos DB",
        examples=(
            "AccountName=files;AccountKey=" + _CANARY + "ab/+==;EndpointSuffix=core.windows.net",
            "SharedAccessKeyName=root;SharedAccessKey=" + _CANARY + "=",
        ),
        near_misses=("AccountKey=...", "AccountKey=<key>;", "SharedAccessKey=" + "x" * 44, "AccountKey=key"),
    ),
    Rule(
        "azure-ad-secret",
        value=rf"(?:{_AZURE_LEFT})[0-9]Q~[A-Za-z0-9_~.-]{{28,}}",
        anchors=("Q~",),
        description="Client secrets of Microsoft Entra applications, from the fourth character on",
        source="Microsoft's identifiable secrets: three characters, a digit, Q~ and 31 to 34 characters",
        examples=(
            "client_secret=abc8Q~" + _CANARY[:34],
            '"Abc7Q~' + "Canary.~_-" * 3 + 'a",',
            *(
                escape + "abc8Q~" + _CANARY[:34]
                for escape in (
                    r"\n",
                    "%3D",
                    r"\x3d",
                    r"\u003d",
                    "\x1b[1m",
                    "\x1b[32m",
                    "\x1b[0;32m",
                    "\x1b[01;32m",
                )
            ),
        ),
        near_misses=("abc8Q~short", "abcdefg8Q~" + "a" * 34, "8Q~" + "a" * 34),
    ),
    Rule(
        "azure-devops",
        context=(
            r"(?:(?:AZURE_?DEVOPS|AZDO_|ADO_|VSTS_)[A-Z_]*(?:PAT|TOKEN)|SYSTEM_ACCESSTOKEN"
            r"|[Aa]zure[ _-]?[Dd]ev[Oo]ps[A-Za-z_ -]*(?:PAT|[Pp]at|[Tt]oken))"
            r"""\\?["']?[ \t]*(?:=>|[:=]{1,2}|,)[ \t]*\\?["']?"""
        ),
        value=r"[a-z2-7]{52}(?![A-Za-z0-9])|[A-Za-z0-9]{84}(?![A-Za-z0-9])",
        anchors=("AZURE", "AZDO_", "ADO_", "VSTS_", "SYSTEM_ACCESSTOKEN", "zure"),
        checks=(random_looking,),
        description="Personal access tokens of Azure DevOps, next to its name",
        source="Azure DevOps documentation: 52 characters of base32, 84 letters and digits in newer ones",
        examples=(
            "AZURE_DEVOPS_EXT_PAT=" + "canary234567abcdefghijklmn" * 2,
            'AzureDevOpsToken: "' + "Canary12" * 10 + 'abcd"',
        ),
        near_misses=(
            "AZURE_DEVOPS_EXT_PAT=<token>",
            "AZURE_DEVOPS_EXT_PAT=" + "x" * 52,
            "canary234567abcdefghijklmn" * 2,
        ),
    ),
    Rule(
        "azure-function-key",
        context=r"""azurewebsites\.net/api/[^\s"'?]*\?(?:[^\s"'&=]+=[^\s"'&]*&)*code=""",
        value=rf"{UNMASKED}[A-Za-z0-9_/+%-]{{40,}}={{0,2}}",
        anchors=("azurewebsites.net/api/",),
        description="Keys of Azure Functions in the addresses that call them",
        source="Azure Functions documentation of access keys: ?code= and 52 to 56 characters",
        examples=(
            "https://app.azurewebsites.net/api/run?code=" + _CANARY + "AzFu1234==",
            "https://app.azurewebsites.net/api/run?name=bob&code=" + _CANARY + "&x=1",
        ),
        near_misses=(
            "https://app.azurewebsites.net/api/run?code=<key>",
            "https://app.azurewebsites.net/api/run?code=200",
            "https://app.azurewebsites.net/callback?code=" + _CANARY,
        ),
    ),
    Rule(
        "digitalocean",
        value=rf"{LEFT}do[por]_v1_{UNMASKED}[A-Za-z0-9]{{32,}}",
        anchors=("dop_v1_", "doo_v1_", "dor_v1_"),
        description="DigitalOcean personal, OAuth and refresh tokens",
        source="DigitalOcean API documentation: a prefix and 64 hexadecimal digits",
        examples=("dop_v1_" + _CANARY, "DIGITALOCEAN_TOKEN=dor_v1_" + _CANARY),
        near_misses=("dop_v1_token", "dop_v1_" + "x" * 64),
    ),
    Rule(
        "vault",
        value=rf"{LEFT}hv[sbr]\.{UNMASKED}[A-Za-z0-9_-]{{20,}}",
        anchors=("hvs.", "hvb.", "hvr."),
        description="HashiCorp Vault service, batch and recovery tokens",
        source="HashiCorp Vault documentation of token prefixes",
        examples=("hvs." + _CANARY, "VAULT_TOKEN=hvb." + "AAAAAQ" + _CANARY * 3),
        near_misses=("hvs.short", "hvs.read_secret(name)", "hvs." + "x" * 24),
    ),
    Rule(
        "vault-legacy",
        context=(r"""(?:VAULT|[Vv]ault)[A-Za-z_ -]{0,24}\\?["']?[ \t]{0,3}[:=]{1,2}>?[ \t]{0,3}\\?["']?"""),
        value=r"[sbr]\.[A-Za-z0-9]{24}(?![A-Za-z0-9_.(-])",
        anchors=("VAULT", "ault"),
        checks=(base64_key,),
        description="HashiCorp Vault tokens of versions before 1.10, next to its name",
        source="HashiCorp Vault documentation: s. and 24 letters and digits",
        examples=("VAULT_TOKEN=s." + _MIXED[:24], "X-Vault-Token: s." + _MIXED[:24] + "\n"),
        near_misses=("VAULT_TOKEN=s.token", "vault = s." + "configurationForProduction"[:24]),
    ),
    Rule(
        "vault-unseal-key",
        context=r"(?:Unseal|Recovery) Key(?:[ ][0-9]{1,2})?:[ ]|vault operator unseal[ ]",
        value=rf"{UNMASKED}[A-Za-z0-9+/]{{40,}}={{0,2}}",
        anchors=("Unseal Key", "Recovery Key", "vault operator unseal"),
        description="Shares of the key that opens a HashiCorp Vault",
        source="HashiCorp Vault documentation: 33 bytes in base64 or hexadecimal",
        examples=("Unseal Key 1: " + _CANARY[:44], "vault operator unseal " + "canary12" * 8 + "ab"),
        near_misses=("Unseal Key 1: <key>", "Unseal Key (will be hidden):", "vault operator unseal -reset"),
    ),
    Rule(
        "yandex-cloud",
        value=(
            rf"{LEFT}(?:AQVN{UNMASKED}[A-Za-z0-9_-]{{30,}}"
            r"|t1\.9eue[A-Za-z0-9_-]{20,}={0,2}(?:\.[A-Za-z0-9_-]+={0,2})?"
            r"|y[0-6]_(?:A[a-z]AAAA|_x)[A-Za-z0-9_-]{30,})"
        ),
        anchors=("AQVN", "t1.9eue", *(f"y{number}_" for number in range(7))),
        description="Yandex API keys, IAM tokens and OAuth tokens",
        source="Yandex Cloud documentation: AQVN, t1. and two parts, y0_ and 58 characters",
        examples=(
            "AQVN" + _CANARY[:35],
            "Bearer t1.9euelZ" + _CANARY + "." + _CANARY,
            "y0_AgAAAA" + _CANARY,
        ),
        near_misses=("AQVN", "t1.column", "t1.9eue", "y0_axis_of_the_second_plot_in_the_figure_on_top"),
    ),
    Rule(
        "yandex-static-key",
        value=rf"{STRICT_LEFT}YC[A-Z][A-Za-z0-9_-]{{35,38}}(?![A-Za-z0-9_-])",
        anchors=("YC",),
        checks=(base64_key,),
        description="Secret keys of Yandex Cloud's services that are compatible with AWS",
        source="Yandex Cloud documentation of static access keys: YC and 38 characters",
        examples=("YCM" + _MIXED, "secret_key: YCP" + _MIXED + "\n"),
        near_misses=("YCOMBINATOR", "YCA" + "a" * 37, "YCM" + _MIXED * 2),
    ),
    Rule(
        "alibaba-access-key-id",
        value=rf"{LEFT}LTAI{UNMASKED}[A-Za-z0-9]{{12,}}",
        anchors=("LTAI",),
        description="Alibaba Cloud access key ids",
        source="Alibaba Cloud documentation of AccessKey pairs: LTAI, 16 to 30 characters in all",
        examples=("LTAI" + "5t" + "Canary12" * 2, "access_key_id=LTAI" + "Canary12" * 2 + "\n"),
        near_misses=("LTAI", "VOLTAIRE", "LTAI" + "x" * 20, "LTAI<id>"),
    ),
    Rule(
        "tencent-secret-id",
        value=rf"{LEFT}AKID{UNMASKED}[A-Za-z0-9]{{24,}}",
        anchors=("AKID",),
        description="Tencent Cloud secret ids",
        source="Tencent Cloud documentation of API keys: AKID and 32 characters",
        examples=("AKID" + "Canary12" * 4, 'SecretId: "AKID' + "Canary12" * 4 + '"'),
        near_misses=("AKID", "AKID" + "x" * 32, "AKIDENTIFIER"),
    ),
    Rule(
        "cloudflare",
        value=(
            rf"{LEFT}(?:v1\.0-[0-9a-f]{{24}}-[A-Za-z0-9]{{16,}}"
            rf"|cf(?:ut|at|k)_{UNMASKED}[A-Za-z0-9_-]{{32,}})"
        ),
        anchors=("v1.0-", "cfut_", "cfat_", "cfk_"),
        description="Cloudflare API tokens and keys, and those of its origin certificates",
        source="Cloudflare's documentation of scannable token formats and of Origin CA keys",
        examples=("cfut_" + _CANARY, "v1.0-" + "0123456789ab" * 2 + "-" + "canary12" * 18, "cfk_" + _CANARY),
        near_misses=("v1.0-beta", "cfk_short", "cfat_" + "x" * 48, "v1.0-" + "0123456789ab" * 2),
    ),
    Rule(
        "databricks",
        value=rf"{LEFT}(?:dapi|dose)[0-9a-z]{{32}}(?:-[0-9])?(?![A-Za-z0-9])",
        anchors=("dapi", "dose"),
        checks=(random_looking,),
        description="Databricks access tokens and OAuth secrets",
        source="Databricks documentation: dapi or dose and 32 hexadecimal digits",
        examples=("dapi" + "canary12" * 4, "DATABRICKS_TOKEN=dose" + "canary12" * 4 + "-2"),
        near_misses=("dapi", "doses", "dapi" + "x" * 32, "dapi" + "canary12" * 5),
    ),
    Rule(
        "heroku",
        value=rf"{LEFT}HRKU-{UNMASKED}[A-Za-z0-9_-]{{30,}}",
        anchors=("HRKU-",),
        description="Heroku API keys",
        source="Heroku's announcement of prefixed tokens: HRKU- and 60 characters, or a UUID",
        examples=("HRKU-AA" + _CANARY, "HEROKU_API_KEY=HRKU-" + "canary12-1234-1234-1234-canary123456"),
        near_misses=("HRKU-", "HRKU-" + "x" * 36),
    ),
    Rule(
        "planetscale",
        value=rf"{LEFT}pscale_(?:tkn|pw|oauth|api)_{UNMASKED}[A-Za-z0-9_=.-]{{24,}}",
        anchors=("pscale_tkn_", "pscale_pw_", "pscale_oauth_", "pscale_api_"),
        description="PlanetScale service tokens, database passwords and OAuth tokens",
        source="PlanetScale documentation of service tokens and passwords",
        examples=("pscale_tkn_" + _CANARY, "mysql2://root:pscale_pw_" + _CANARY + "@aws.example.com/db"),
        near_misses=("pscale_tkn_id", "pscale_pw_" + "x" * 43),
    ),
    Rule(
        "flyio",
        value=(
            rf"{LEFT}(?:fm[12][a-z]?_{UNMASKED}[A-Za-z0-9+/=_,-]{{40,}}"
            rf"|fo1_{UNMASKED}[A-Za-z0-9_-]{{32,}})"
        ),
        anchors=("fm1", "fm2", "fo1_"),
        description="Fly.io access tokens, those joined by commas included",
        source="Fly.io documentation of access tokens; macaroons in base64",
        examples=("FlyV1 fm2_" + _CANARY * 2 + ",fm2_" + _CANARY * 2, "FLY_API_TOKEN=fo1_" + _CANARY),
        near_misses=("fm2_short", "fm2_" + "x" * 120, "fo1_" + "x" * 43),
    ),
    Rule(
        "vercel",
        value=rf"{LEFT}vc[pickar]_{UNMASKED}[A-Za-z0-9]{{32,}}",
        anchors=("vcp_", "vci_", "vcc_", "vck_", "vca_", "vcr_"),
        description="Vercel tokens and keys",
        source="Vercel's documentation of token formats",
        examples=("vcp_" + _CANARY, "AI_GATEWAY_API_KEY=vck_" + _CANARY),
        near_misses=("vcp_short", "vca_" + "x" * 56, "vci_some_name_of_a_function_in_the_compiler"),
    ),
    Rule(
        "supabase",
        value=rf"{LEFT}(?:sbp_(?:oauth_|v0_)?{UNMASKED}[A-Za-z0-9]{{32,}}|sb_secret_[A-Za-z0-9_-]{{20,}})",
        anchors=("sbp_", "sb_secret_"),
        checks=(random_looking,),
        description="Supabase access tokens and secret API keys",
        source="Supabase documentation: sbp_ and 40 hexadecimal digits; sb_secret_ and 31 characters",
        examples=("sbp_" + "canary12" * 5, "SUPABASE_KEY=sb_secret_" + "Canary12" * 3 + "_canary12"),
        near_misses=(
            "sbp_short",
            "sb_secret_key_of_the_application",
            "sb_publishable_" + "Canary12" * 3,
            "sbp_" + "x" * 40,
        ),
    ),
    Rule(
        "hosting-key",
        value=(
            rf"{LEFT}(?:(?:nfp|rnd|ddp|ddw)_{UNMASKED}[A-Za-z0-9]{{28,}}"
            rf"|napi_{UNMASKED}[A-Za-z0-9]{{40,}}"
            rf"|AVNS_{UNMASKED}[A-Za-z0-9_-]{{15,}})"
        ),
        anchors=("nfp_", "rnd_", "ddp_", "ddw_", "napi_", "AVNS_"),
        description="Keys of Netlify, Render, Deno Deploy, Neon and Aiven",
        source="their documentation: nfp_, rnd_, ddp_ or ddw_, napi_, AVNS_",
        examples=(
            "nfp_" + _CANARY[:36],
            "rnd_" + _CANARY[:32],
            "napi_" + "canary12" * 8,
            "AVNS_" + _CANARY[:19],
        ),
        near_misses=(
            "nfp_" + "x" * 36,
            "rnd_generator_for_the_first_of_the_samples",
            "napi_create_reference_of_a_value_in_the_environment",
            "AVNS_short",
        ),
    ),
    Rule(
        "mongodb-atlas",
        value=rf"{LEFT}mdb_sa_sk_{UNMASKED}[A-Za-z0-9_-]{{24,}}",
        anchors=("mdb_sa_sk_",),
        description="Secrets of MongoDB Atlas service accounts",
        source="MongoDB Atlas documentation of service accounts: mdb_sa_sk_ and 40 characters",
        examples=("mdb_sa_sk_" + _CANARY[:40], "client_secret: mdb_sa_sk_" + _CANARY[:40]),
        near_misses=("mdb_sa_sk_secret", "mdb_sa_id_" + "Canary12" * 3, "mdb_sa_sk_" + "x" * 40),
    ),
    Rule(
        "scaleway-access-key",
        value=rf"{LEFT}SCW[A-Z0-9]{{17}}(?![A-Za-z0-9_])",
        anchors=("SCW",),
        checks=(random_looking,),
        description="Scaleway access keys",
        source="Scaleway documentation of API keys: SCW and 17 upper-case letters and digits",
        examples=("SCW" + "CANARY12" * 2 + "A", "SCW_ACCESS_KEY=SCW" + "1CANARY2" * 2 + "B"),
        near_misses=("SCW" + "X" * 17, "SCW_ACCESS_KEY", "SCW" + "CANARY12" * 3),
    ),
    Rule(
        "backblaze-application-key",
        value=rf"{STRICT_LEFT}K00[0-9][A-Za-z0-9+/]{{27}}(?![A-Za-z0-9+/=_-])",
        anchors=("K00",),
        checks=(base64_key,),
        description="Backblaze B2 application keys",
        source="Backblaze B2 documentation of application keys: K00 and a digit, 31 characters in all",
        examples=("K001" + _MIXED[:27], "B2_KEY=K005" + "ab/" + _MIXED[:24] + "\n"),
        near_misses=("K001", "K0012345678901234567890123456789", "K002" + _MIXED),
    ),
)
