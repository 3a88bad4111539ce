"""What the trimmer costs on prose: characters held, which is certain, and time, which is printed.

python -m pytest tests/preamble/test_cost.py -s
"""

from __future__ import annotations

from time import perf_counter

import pytest

from streamguard.preamble import PreambleTrimmer

TRIMMER = PreambleTrimmer()

# The beginning of Alice's Adventures in Wonderland, and of 故乡 by Lu Xun; both in the public domain.
ENGLISH = """\
Alice was beginning to get very tired of sitting by her sister on the bank, and of having nothing \
to do: once or twice she had peeped into the book her sister was reading, but it had no pictures \
or conversations in it, “and what is the use of a book,” thought Alice “without pictures or \
conversations?”

So she was considering in her own mind (as well as she could, for the hot day made her feel very \
sleepy and stupid), whether the pleasure of making a daisy-chain would be worth the trouble of \
getting up and picking the daisies, when suddenly a White Rabbit with pink eyes ran close by her.

There was nothing so very remarkable in that; nor did Alice think it so very much out of the way \
to hear the Rabbit say to itself, “Oh dear! Oh dear! I shall be late!”

In another moment down went Alice after it, never once considering how in the world she was to \
get out again. The rabbit-hole went straight on like a tunnel for some way, and then dipped \
suddenly down.
"""
CHINESE = """\
我冒了严寒，回到相隔二千余里，别了二十余年的故乡去。

时候既然是深冬；渐近故乡时，天气又阴晦了，冷风吹进船舱中，呜呜的响，从篷隙向外一望，苍黄的天底下，\
远近横着几个萧索的荒村，没有一些活气。我的心禁不住悲凉起来了。阿！这不是我二十年来时时记得的故乡？

我所记得的故乡全不如此。我的故乡好得多了。
"""


@pytest.mark.parametrize("text", [ENGLISH, CHINESE], ids=["english", "chinese"])
def test_prose_is_held_for_a_twentieth_of_a_character(text: str) -> None:
    session = TRIMMER.session()
    held = 0
    for char in text:
        session.feed(char)
        held += session.pending
    print(f"\nheld on average: {held / len(text):.3f} characters")
    assert held / len(text) < 0.1


@pytest.mark.bench
@pytest.mark.parametrize("text", [ENGLISH, CHINESE], ids=["english", "chinese"])
def test_time_for_a_chunk_of_four_characters(text: str) -> None:
    chunks = [text[at : at + 4] for at in range(0, len(text), 4)]
    times: list[float] = []
    for _ in range(300):
        feed = TRIMMER.session().feed
        begin = perf_counter()
        for chunk in chunks:
            feed(chunk)
        times.append(perf_counter() - begin)
    print(f"\nbest of {len(times)}: {min(times) / len(chunks) * 1e9:.0f} ns a chunk")
