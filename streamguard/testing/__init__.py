"""The laws as a kit: does a transformer, or anybody's stream filter, keep its promises?

`check_transformer` checks the laws that texts alone can show, `check_minimal` and
`check_linear` the two that need an alphabet and a family of texts, `assert_stream_safe`
any function from chunks to chunks, of any library. All of them raise `LawViolation`, an
`AssertionError`, under every test runner; none of them depends on time or on chance.
The strategies for Hypothesis import it when they are called.

The errors raised here show the texts under test, as no other error of streamguard does:
check with invented texts.
"""

from streamguard.testing.cost import check_linear
from streamguard.testing.cuts import chunked, cuts_of, every_cut, random_cuts, texts
from streamguard.testing.filters import assert_stream_safe, assert_stream_safe_async
from streamguard.testing.laws import Law, LawViolation
from streamguard.testing.oracle import check_minimal
from streamguard.testing.transformers import check_transformer

__all__ = [
    "Law",
    "LawViolation",
    "assert_stream_safe",
    "assert_stream_safe_async",
    "check_linear",
    "check_minimal",
    "check_transformer",
    "chunked",
    "cuts_of",
    "every_cut",
    "random_cuts",
    "texts",
]
