"""Numbers, words and characters that programs stumble over."""

from __future__ import annotations

from random import Random

NUMBERS = (
    "0", "1", "-1", "2", "0.5", "-0.5", "1e-3", "100", "3.14159265358979", "1.5708", "1e-7", "1e-300", "1e-320",
    "1e300", "1e308", "1e309", "-1e308", "1e400", "1e5000", "1e-5000", "1e99999999", "nan", "inf", "-inf", "NaN",
    "0x10", "1_000", "1.", ".5", "+1", "--1", "1e", "1/3", "1/0", "0/0", "٣", "²", "1,5", "9" * 30, "9" * 400,
    "9" * 5000, "0." + "3" * 200, "12345678901234567890", "2147483648", "-0", "-0.0", "pi", "pi/2", "1 2 3", "",
)  # fmt: skip

#: Numbers that are plainly numbers: for places where the rest of a case should be reached.
TAME = ("0", "1", "-1", "2", "3", "0.5", "-0.25", "1e-3", "10", "1/3", "1.5708", "0.1", "7", "1e6", "-9.81")

PIECES = (
    "", " ", "\t", "\n", "\r", "\x00", "\x0b", "\x1c", "\x85", "\u2028", "\ufeff", "\udcff", "\udc80", "\u202e", "'",
    '"', "`", ";", ",", "|", "~", "(", ")", "((", "))", "()", "<", ">", "</", "/>", "<!--", "-->", "<![CDATA[", "]]>",
    "&", "&#10;", "&#0;", "&#xD800;", "&lt;", "&nope;", "%", "%s", "{}", "{0}", "$", "#", "//", "/*", "*/", "\\",
    "\\n", "=", "==", ">=", "<=", "^", "**", "^^", "+", "-", "*", "/", ".", "..", ":", "@", "[", "]", "!", "?", "θ",
    "К", "ß", "Ⅷ", "é", "e\u0301", "😀", "ﬁ", "İ", "ı", "_", "__class__", "name", "type", "x" * 300, "q1", "q1'", "t",
)  # fmt: skip


def number(chance: Random) -> str:
    """A number, odd in one case of three."""
    return chance.choice(NUMBERS if chance.random() < 0.34 else TAME)


def numbers(chance: Random) -> str:
    """One to seven numbers with blanks between them, as XML has them."""
    return " ".join(number(chance) for _ in range(chance.choice((1, 1, 2, 3, 3, 3, 4, 6, 7))))
