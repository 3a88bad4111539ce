"""Addresses of cryptocurrency wallets, told by their checksums."""

from __future__ import annotations

from streamguard.redact.rule import Rule
from streamguard.redact.rules.pii import checks
from streamguard.redact.rules.pii.edges import WORD

__all__ = ["PII_CRYPTO"]

_DATA = "[02-9ac-hj-np-z]"

PII_CRYPTO = (
    Rule(
        "crypto-base58",
        value=rf"{WORD}[13ADLMTX9t][1-9A-HJ-NP-Za-km-z]{{25,34}}(?![A-Za-z0-9_])",
        checks=(checks.base58_address,),
        hashed=False,
        description="Addresses of Bitcoin, Litecoin, Dogecoin, Dash, Zcash and Tron",
        source="Bitcoin's Base58Check, which the others took over with other versions",
        examples=(
            "1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa",
            "send to 3J98t1WpEZ73CNmQviecrnyiWrnqRhWNLy.",
            "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t",
        ),
        near_misses=("1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNb", "16Yeky6GMjeNkAiNcBY7ZhrLoMSgg1BoyZ2"),
    ),
    Rule(
        "crypto-bech32",
        value=(
            rf"{WORD}(?:(?:bc|tb|ltc|addr|cosmos|osmo)1{_DATA}{{11,110}}|BC1[02-9AC-HJ-NP-Z]{{11,87}})"
            r"(?![A-Za-z0-9_])"
        ),
        anchors=("bc1", "tb1", "ltc1", "addr1", "cosmos1", "osmo1", "BC1"),
        checks=(checks.bech32_address,),
        hashed=False,
        description="Addresses of Bitcoin, Litecoin, Cardano and Cosmos",
        source="BIP 173 and BIP 350",
        examples=(
            "bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq",
            "bc1p5d7rjq7g6rdk2yhzks9smlaqtedr4dekq08ge8ztwac72sfr9rusxg3297",
            "BC1QW508D6QEJXTDG4Y5R3ZARVARY0C5XW7KV8F3T4",
        ),
        near_misses=("bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdp", "abc1234567890123"),
    ),
    Rule(
        "crypto-ethereum",
        # No checksum: the mixed case of EIP-55 is optional, and what is mistyped is no less
        # somebody's address. Forty digits after 0x are telling.
        value=rf"{WORD}0x[0-9A-Fa-f]{{40}}(?![A-Za-z0-9_])",
        anchors=("0x",),
        hashed=False,
        description="Addresses of Ethereum and of chains like it",
        source="EIP-55; the checksum in the case of the letters is not required",
        examples=(
            "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed",
            "to=0xfb6916095ca1df60bb79ce92ce3ea74c37c5d359&x",
        ),
        near_misses=("0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAe", "0x" + "ab" * 32, "0xdeadbeef"),
    ),
)
