"""Tool talk at the end of a text, taken out while the text streams."""

from streamguard.preamble.trimmer import PreambleTrimmer

__all__ = ["PreambleTrimmer"]
