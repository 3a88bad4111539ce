"""Rules of personal data, one file a category: chosen by whoever wants them.

They are no part of `SECRETS`. Their placeholders carry no hash without a key: there are few
enough phone numbers to try them all. Phone numbers and national ids are looked up in
libraries, which the extra `pii` installs; the other rules do without.

`PII` is all of them, in order of priority: where two rules claim the same value, the first
names it.
"""

from streamguard.redact.rule import Rule
from streamguard.redact.rules.pii.contact import PII_CONTACT
from streamguard.redact.rules.pii.crypto import PII_CRYPTO
from streamguard.redact.rules.pii.identity import PII_IDENTITY
from streamguard.redact.rules.pii.network import PII_NETWORK
from streamguard.redact.rules.pii.payment import PII_PAYMENT

__all__ = ["PII", "PII_CONTACT", "PII_CRYPTO", "PII_IDENTITY", "PII_NETWORK", "PII_PAYMENT"]

PII: tuple[Rule, ...] = (*PII_NETWORK, *PII_PAYMENT, *PII_CRYPTO, *PII_IDENTITY, *PII_CONTACT)
