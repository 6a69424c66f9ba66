"""Names of models in plain letters: Cyrillic after BGN/PCGN, Greek letters by their names, accents left out."""

from __future__ import annotations

import re
import unicodedata


def _table(pairs: str) -> dict[str, str]:
    """A table from a text of letters and what each becomes, in turn."""
    words = pairs.split()
    return dict(zip(words[::2], words[1::2], strict=True))


#: Russian, then what other languages add. The signs without a sound are left out.
_CYRILLIC = {"ъ": "", "ь": ""} | _table(
    """а a б b в v г g д d е e ё yo ж zh з z и i й y к k л l м m н n о o п p р r с s т t у u ф f х kh ц ts ч ch ш sh
    щ shch ы y э e ю yu я ya  ґ g є ye і i ї yi ў w  ђ dj ј j љ lj њ nj ћ c џ dz  ѓ g ѕ dz ќ k ѐ e ѝ i"""
)
_GREEK = _table(
    """α alpha β beta γ gamma δ delta ε epsilon ζ zeta η eta θ theta ι iota κ kappa λ lambda μ mu ν nu ξ xi ο omicron
    π pi ρ rho σ sigma τ tau υ upsilon φ phi χ chi ψ psi ω omega ς sigma ϑ theta ϕ phi ϵ epsilon ϱ rho ϖ pi"""
)
_LETTERS = _CYRILLIC | _GREEK | _table("ß ss ø o ł l đ d æ ae œ oe þ th ð d ı i")

#: A prime is a derivative: q1' becomes q1_dot.
_PRIMES = re.compile(r"(?<=\w)(?:'+|′+|″)")
_DOTS = {1: "_dot", 2: "_ddot"}


def transliterated(name: str) -> str:
    """A name in letters, digits and single underscores; empty if it has no letter or digit that can be read."""
    text = _PRIMES.sub(_dotted, name)
    letters = "".join(ascii_spelling(letter) for letter in text)
    return re.sub(r"[^A-Za-z0-9]+", "_", letters).strip("_")


def _dotted(primes: re.Match[str]) -> str:
    count = len(primes[0].replace("″", "''"))
    return _DOTS.get(count, f"_d{count}")


def ascii_spelling(letter: str) -> str:
    """One character in plain letters; what has none is itself."""
    if letter.isascii():
        return letter
    if letter.lower() in _LETTERS:
        spelled = _LETTERS[letter.lower()]
        return spelled if letter == letter.lower() else spelled.capitalize()
    parts = unicodedata.normalize("NFKD", letter)
    if parts == letter:
        return letter
    return "".join(ascii_spelling(part) for part in parts if not unicodedata.combining(part))
