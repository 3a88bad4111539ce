"""Keys of package registries.

Maven, Hackage, Packagist's public API and Gemfury give out keys without a prefix, or keep a
password in a file of settings: those are found by the name they are assigned to.
"""

from __future__ import annotations

from streamguard.redact.checks import basic_credentials, literal, opaque
from streamguard.redact.rule import Rule
from streamguard.redact.rules.boundary import LEFT, UNMASKED

__all__ = ["REGISTRIES"]

_CANARY = "Canary12" * 5
_HEX = "c0canary" * 8
_BASIC = "dXNlcjpDYW5hcnkw" + "MTIzNDU2Nzg5"  # user:Canary0123456789

_MARKED = r"""[\"']?"""
_PAIR = "c0canary:" + "c1canary"

REGISTRIES = (
    Rule(
        "npm",
        # Of two that stand without anything between them, the first runs into the second's prefix.
        value=rf"{LEFT}npm_{UNMASKED}[A-Za-z0-9]{{24,}}(?:(?<=npm)_[A-Za-z0-9]+)*",
        anchors=("npm_",),
        description="npm access tokens",
        source="npm's documentation: npm_ and 36 characters, the last six a checksum",
        examples=(
            "npm_" + _CANARY[:36],
            "//registry.npmjs.org/:_authToken=npm_" + _CANARY[:36],
            2 * ("npm_" + _CANARY),
        ),
        near_misses=("npm_config_registry", "npm_" + "x" * 36, "npm_lifecycle_event", "pnpm_" + "a" * 36),
    ),
    Rule(
        "npmrc",
        context=r"""(?<=[:\s])_(?:authToken|password)[ ]?=[ ]?["']?""",
        value=r"""[^\s"'\\]{8,}(?=[\s"'\\]|\Z)""",
        anchors=("_authToken", "_password"),
        checks=(literal,),
        description="Tokens and passwords in .npmrc",
        source="npm's documentation of .npmrc: //HOST/:_authToken=",
        examples=(
            "//registry.example.com/:_authToken=c0canary-" + "1234-4abc-8def-c0canary0123",
            "//npm.example.com/:_password = Y2FuYXJ5Y2FuYXJ5\n",
            r"//npm.example.com/:_authToken=canary0123canary\nalways-auth=true",
        ),
        near_misses=(
            "//registry.npmjs.org/:_authToken=${NPM_TOKEN}",
            "//registry.npmjs.org/:_authToken=<token>",
            "//npm.example.com/:_password=",
            "//registry.npmjs.org/:_authToken=YOUR_AUTH_TOKEN",
        ),
    ),
    Rule(
        "registry-auth",
        context=r"""(?:"auth"|\\"auth\\")[ ]?:[ ]{0,2}\\?"|(?<=[:\s])_auth[ ]?=[ ]?["']?""",
        value=r"""[A-Za-z0-9+/_-]{8,}={0,2}(?=[\s"'\\]|\Z)""",
        anchors=('"auth', "_auth"),
        checks=(basic_credentials,),
        description="A user's name and password in base64: Docker's config.json, .npmrc",
        source="the files of docker login and npm login: base64 of user:password",
        examples=(
            '{"auths": {"https://index.docker.io/v1/": {"auth": "' + _BASIC + '"}}}',
            r"{\"auths\":{\"ghcr.io\":{\"auth\":\"" + _BASIC + r"\"}}}",
            "//npm.example.com/:_auth=" + _BASIC + "\n",
        ),
        near_misses=(
            '{"auth": "required"}',
            '"auth": "oauth2"',
            '"auth": "YmFzaWM6"',
            "_auth = HTTPBasicAuth(user, password)",
        ),
    ),
    Rule(
        "pypi",
        value=rf"{LEFT}pypi-Ag{UNMASKED}[A-Za-z0-9_-]{{30,}}",
        anchors=("pypi-Ag",),
        description="API tokens of PyPI and TestPyPI",
        source="PyPI's documentation: pypi- and a macaroon in base64, which names its site first",
        examples=(
            "pypi-AgEIcHlwaS5vcmc" + "CJ" + _CANARY * 2,
            "TWINE_PASSWORD=pypi-AgENdGVzdC5weXBpLm9yZw" + "IC" + _CANARY * 2,
        ),
        near_misses=("pypi-AgEIcHlwaS5vcmc...", "pypi-Agenda", "pypi-publish"),
    ),
    Rule(
        "rubygems",
        value=rf"{LEFT}rubygems_{UNMASKED}[A-Za-z0-9]{{24,}}",
        anchors=("rubygems_",),
        description="RubyGems API keys",
        source="RubyGems.org: rubygems_ and 48 hexadecimal digits",
        examples=("rubygems_" + _HEX[:48], "GEM_HOST_API_KEY=rubygems_" + _HEX[:48]),
        near_misses=("rubygems_version", "rubygems_" + "x" * 48, "rubygems_api_key"),
    ),
    Rule(
        "crates-io",
        # Three plain letters: the length is the official one, exactly.
        value=rf"{LEFT}cio(?:[A-Za-z0-9]{{32}}|_tp_[A-Za-z0-9]{{20,}})(?![A-Za-z0-9])",
        anchors=("cio",),
        checks=(opaque,),
        description="crates.io API tokens, and those of trusted publishing",
        source="crates.io's source: cio and 32 letters and digits; cio_tp_ for trusted publishing",
        examples=(
            "cio" + "Canary0qWe7rTy2uIo5pAs9dFg3hJk4L",
            "cargo login cio_tp_" + "Canary0qWe7rTy2uIo5pAs9dFg3hJk4L",
        ),
        near_misses=(
            "cio" + "a" * 32,
            "precio" + "a1" * 16,
            "cioccolato",
            "cio" + "abstractFactoryBeanConfiguration",
        ),
    ),
    Rule(
        "nuget",
        value=rf"{LEFT}oy2[a-z0-9]{{43}}(?![A-Za-z0-9])",
        anchors=("oy2",),
        checks=(opaque,),
        description="NuGet API keys",
        source="nuget.org: oy2 and 43 lower-case letters and digits",
        examples=("oy2" + "canary7x" * 5 + "q4z", "NUGET_KEY=oy2" + "canary7x" * 5 + "q4z\n"),
        near_misses=("oy2" + "a" * 43, "oy2canary", "toy2" + "canary7x" * 5 + "q4z"),
    ),
    Rule(
        "docker",
        value=(
            rf"{LEFT}(?:dckr_[po]at_{UNMASKED}[A-Za-z0-9_-]{{16,}}"
            rf"|SWM(?:TKN|KEY)-1-{UNMASKED}[A-Za-z0-9+/]{{24,}}(?:-[A-Za-z0-9]+)?)"
        ),
        anchors=("dckr_pat_", "dckr_oat_", "SWMTKN-1-", "SWMKEY-1-"),
        description="Docker Hub tokens of people and organisations, Swarm join tokens and unlock keys",
        source="Docker's documentation: dckr_pat_, dckr_oat_, SWMTKN-1-, SWMKEY-1-",
        examples=(
            "dckr_pat_" + _CANARY[:27],
            "docker login -u bob -p dckr_oat_" + _CANARY[:32],
            "docker swarm join --token SWMTKN-1-" + "3canary0" * 6 + "ab-" + "canary0123456789abcdefghi",
            "SWMKEY-1-" + _CANARY + "abc",
        ),
        near_misses=("dckr_pat_...", "dckr_pat_" + "x" * 27, "SWMTKN-1-<token>", "SWMTKN-1-xxxx"),
    ),
    Rule(
        "clojars",
        value=rf"{LEFT}CLOJARS_{UNMASKED}[a-z0-9]{{30,}}",
        anchors=("CLOJARS_",),
        description="Clojars deploy tokens",
        source="Clojars' documentation: CLOJARS_ and 60 hexadecimal digits",
        examples=("CLOJARS_" + _HEX[:60], "CLOJARS_PASSWORD=CLOJARS_" + _HEX[:60]),
        near_misses=("CLOJARS_USERNAME", "CLOJARS_" + "x" * 60),
    ),
    Rule(
        "packagist",
        value=rf"{LEFT}packagist_[a-z]{{3}}_{UNMASKED}[a-z0-9]{{30,}}",
        anchors=("packagist_",),
        description="Private Packagist tokens of organisations and users",
        source="Private Packagist's documentation: packagist_ort_, _out_, _uut_; 60 digits and a checksum",
        examples=("packagist_ort_" + _HEX + "0123", '"password": "packagist_uut_' + _HEX + '0123"'),
        near_misses=("packagist_ort_...", "packagist_out_" + "x" * 68, "packagist_api_token"),
    ),
    Rule(
        "sidekiq",
        context=rf"__CONTRIBSYS__COM[A-Za-z_]*{_MARKED}[ \t]*(?:[:?]*=>?|:|,|[ ])[ \t]*{_MARKED}",
        value=r"[0-9a-z]{8}:[0-9a-z]{8}(?![0-9A-Za-z])",
        anchors=("__CONTRIBSYS__COM",),
        checks=(literal,),
        description="The credentials of Sidekiq's commercial packages, next to their name",
        source="Bundler's settings of a host; Sidekiq's documentation of its commercial releases",
        examples=(
            "export BUNDLE_ENTERPRISE__CONTRIBSYS__COM=" + _PAIR,
            'BUNDLE_GEMS__CONTRIBSYS__COM: "' + _PAIR + '"',
            "bundle config BUNDLE_GEMS__CONTRIBSYS__COM " + _PAIR,
        ),
        near_misses=("BUNDLE_GEMS__CONTRIBSYS__COM=username:password", "BUNDLE_GEMS__CONTRIBSYS__COM: $PAIR"),
    ),
)
