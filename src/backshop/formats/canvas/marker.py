"""What stands before items of lists: bullets of symbol faces as letters, numbers as written."""

from __future__ import annotations

_DINGBATS = {
    "§": "▪", "Ø": "➢", "ü": "✓", "q": "❑", "v": "❖", "l": "●", "n": "■", "u": "◆", "à": "→",
    "·": "•", "¨": "□", "ð": "⇨", "Þ": "⇒", "w": "◆", "è": "➔", "û": "✗", "o": "□", "p": "□",
    "²": "◆", "s": "◆", "Ÿ": "•", "–": "–", "-": "–",
}  # fmt: skip
_ROMAN = (
    (1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l"),
    (40, "xl"), (10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i"),
)  # fmt: skip
_MOST = 32_767


def bullet_letter(char: str, font: str) -> str:
    """Return the letter that a bullet of a face looks like."""
    letter = char[:1]
    is_private = "\uf000" <= letter <= "\uf0ff"
    if is_private:
        letter = chr(ord(letter) - 0xF000)
    return _DINGBATS.get(letter, "•") if is_private or is_dingbat(font) else char[:4]


def is_dingbat(font: str) -> bool:
    """Whether the letters of a face are symbols."""
    return any(word in font.lower() for word in ("wingding", "symbol", "webding"))


def alphabetic(number: int) -> str:
    """Return a, b … z, aa, bb …"""
    count, letter = divmod(min(max(number, 1), _MOST) - 1, 26)
    return chr(ord("a") + letter) * (min(count, 20) + 1)


def roman(number: int) -> str:
    """Return i, ii, iii, iv …"""
    number = min(max(number, 1), _MOST)
    out = ""
    for value, letters in _ROMAN:
        count, number = divmod(number, value)
        out += letters * min(count, 40)
    return out
