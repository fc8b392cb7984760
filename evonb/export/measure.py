"""How wide a text may become, without knowing the reader's font: widths of the widest common system font.

A box that is too wide is a little loose; one that is too narrow spills its name. So the table errs upwards.
"""

from __future__ import annotations

import unicodedata

from evonb.export.shared import place

# Widths in em, measured on the widest of the usual system fonts.
_NARROW = 0.42
_MEDIUM = 0.64
_WIDE = 0.84
_WIDEST = 1.02
_CLASSES = {
    **dict.fromkeys("iljIJ.,:;'|![]()/\\-frt °·", _NARROW),
    **dict.fromkeys("EFLPSTY", _MEDIUM),
    **dict.fromkeys("ABCDGHKNOQRUVXZ+<>=~#^&w", _WIDE),
    **dict.fromkeys("mMW@%—…", _WIDEST),
}


def clean(text: str) -> str:
    """The text in one line with no control characters: they are invisible, and XML doesn't allow them."""
    return "".join(_visible(letter) for letter in text)


def _visible(letter: str) -> str:
    if " " <= letter <= "~":
        return letter
    category = unicodedata.category(letter)
    if letter in "\t\n\r\v\f\x85" or category in ("Zl", "Zp"):
        return " "
    forbidden = category in ("Cc", "Cs") or ord(letter) & 0xFFFE == 0xFFFE
    return "\ufffd" if forbidden else letter


def cut(text: str, letters: int) -> str:
    """At most `letters` letters, the last an ellipsis if there were more."""
    text = clean(text)
    return text if len(text) <= letters else text[: letters - 1] + "…"


def width(text: str, size_px: float) -> float:
    """An upper estimate of the text's width in a proportional font."""
    return size_px * sum(_em(letter) for letter in text)


def _em(letter: str) -> float:
    known = _CLASSES.get(letter)
    if known is not None:
        return known
    if unicodedata.combining(letter) or unicodedata.category(letter) in ("Mn", "Me", "Cf"):
        return 0.0
    if unicodedata.east_asian_width(letter) in "WF" or ord(letter) >= 0x1F000:
        return 1.4  # emoji are drawn wider than an em
    return _WIDE if letter.isupper() else _MEDIUM


def visible(name: str) -> str:
    """A name that can be seen: one of nothing but spaces shows them."""
    return name if name.strip() else "␣" * max(1, min(8, len(name)))


def shown_name(name: str) -> str:
    """What stands in the node's box; the whole name is in its tooltip."""
    return cut(visible(name), int(place("node", "name_letters")))


def frame_letters(wide: float) -> int:
    """How many letters of its name a frame of this width shows: beside them it has room for sign, count and time."""
    return max(
        int(place("node", "name_letters")), int((wide - place("group", "title_room")) / place("group", "letter"))
    )


def shown_label(label: str) -> str:
    """What stands on an edge."""
    return cut(label, int(place("node", "label_letters")))


def name_width(name: str) -> float:
    return width(shown_name(name), 13)


def label_size(label: str) -> tuple[float, float]:
    """Width and height of an edge label with its halo."""
    return (width(shown_label(label), 11) + 8, 15.0)
