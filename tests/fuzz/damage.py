"""Texts and trees with something broken, moved, doubled or put in."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from copy import deepcopy
from random import Random
from xml.etree import ElementTree

from tests.fuzz.odd import PIECES, number, numbers

_TOKEN = re.compile(r"[^\W\d]\w*|[\d.]+(?:[eE][+-]?\d+)?|\s+|.", re.DOTALL)
_NUMBER = re.compile(r"\d")

#: No text grows beyond this by damage: the limits of size have tests of their own.
_LONGEST = 20_000


def damaged_text(text: str, chance: Random, words: Sequence[str] = ()) -> str:
    """The text after one to four changes of its tokens; `words` are what may be put in."""
    tokens = _TOKEN.findall(text)
    for _ in range(chance.choice((1, 1, 1, 2, 3, 4))):
        tokens = tokens or [" "]
        chance.choice(_CHANGES)(tokens, chance, words or PIECES)
    return "".join(tokens)[:_LONGEST]


def _span(tokens: Sequence[str], chance: Random) -> slice:
    start = chance.randrange(len(tokens))
    return slice(start, start + chance.choice((1, 1, 1, 2, 3, 5, 9, 30)))


def _cut(tokens: list[str], chance: Random, words: Sequence[str]) -> None:
    del tokens[_span(tokens, chance)]


def _double(tokens: list[str], chance: Random, words: Sequence[str]) -> None:
    span = _span(tokens, chance)
    tokens[span.stop : span.stop] = tokens[span] * chance.choice((1, 1, 1, 2, 50))


def _move(tokens: list[str], chance: Random, words: Sequence[str]) -> None:
    span, place = _span(tokens, chance), chance.randrange(len(tokens))
    piece = tokens[span]
    del tokens[span]
    tokens[place:place] = piece


def _put_in(tokens: list[str], chance: Random, words: Sequence[str]) -> None:
    tokens.insert(chance.randrange(len(tokens) + 1), chance.choice(PIECES if chance.random() < 0.5 else words))


def _replace(tokens: list[str], chance: Random, words: Sequence[str]) -> None:
    other = chance.choice(tokens) if chance.random() < 0.5 else chance.choice(words)
    tokens[chance.randrange(len(tokens))] = other


def _renumber(tokens: list[str], chance: Random, words: Sequence[str]) -> None:
    places = [place for place, token in enumerate(tokens) if _NUMBER.match(token)]
    if places:
        tokens[chance.choice(places)] = number(chance)


def _exchange_names(tokens: list[str], chance: Random, words: Sequence[str]) -> None:
    places = [place for place, token in enumerate(tokens) if token[:1].isalpha()]
    if places:
        tokens[chance.choice(places)] = tokens[chance.choice(places)]


def _truncate(tokens: list[str], chance: Random, words: Sequence[str]) -> None:
    del tokens[chance.randrange(len(tokens)) :]


def _nest(tokens: list[str], chance: Random, words: Sequence[str]) -> None:
    span, depth = _span(tokens, chance), chance.choice((1, 2, 20, 199, 300))
    tokens[span] = [*["("] * depth, *tokens[span], *[")"] * depth]


_CHANGES: tuple[Callable[[list[str], Random, Sequence[str]], None], ...] = (
    _cut, _double, _move, _put_in, _replace, _exchange_names, _exchange_names, _renumber, _renumber, _truncate, _nest,
)  # fmt: skip


class Vocabulary:
    """Element names, attributes and values of a kind of XML file: the pieces damaged trees are made of."""

    def __init__(self, texts: Sequence[str], more_tags: Sequence[str] = (), more_keys: Sequence[str] = ()) -> None:
        elements = [element for text in texts for element in ElementTree.fromstring(text).iter()]
        self.tags = sorted({element.tag for element in elements} | set(more_tags))
        self.keys = sorted({key for element in elements for key in element.attrib} | set(more_keys))
        self.values = sorted({value for element in elements for value in element.attrib.values()})

    def value(self, chance: Random) -> str:
        """A value for an attribute: one of the files', numbers, or nonsense."""
        luck = chance.random()
        if luck < 0.4:
            return chance.choice(self.values)
        return numbers(chance) if luck < 0.85 else re.sub(r"[\x00-\x1f\ud800-\udfff]", "", chance.choice(PIECES))


def damaged_tree(text: str, chance: Random, vocabulary: Vocabulary) -> str:
    """An XML text after one to five changes of its tree: still well-formed, whatever it says."""
    root = ElementTree.fromstring(text)
    for _ in range(chance.choice((1, 1, 2, 3, 5))):
        chance.choice(_TREE_CHANGES)(root, chance, vocabulary)
    try:
        return ElementTree.tostring(root, encoding="unicode")
    except RecursionError:  # an element was put into itself too often to be written
        return text


def _any(root: ElementTree.Element, chance: Random) -> ElementTree.Element:
    return chance.choice(list(root.iter()))


def _set_attribute(root: ElementTree.Element, chance: Random, vocabulary: Vocabulary) -> None:
    element = _any(root, chance)
    known = list(element.attrib)
    key = chance.choice(known) if known and chance.random() < 0.7 else chance.choice(vocabulary.keys)
    element.set(key, vocabulary.value(chance))


def _drop_attribute(root: ElementTree.Element, chance: Random, vocabulary: Vocabulary) -> None:
    element = _any(root, chance)
    if element.attrib:
        del element.attrib[chance.choice(list(element.attrib))]


def _drop_element(root: ElementTree.Element, chance: Random, vocabulary: Vocabulary) -> None:
    parent = _any(root, chance)
    if len(parent):
        parent.remove(chance.choice(list(parent)))


def _copy_element(root: ElementTree.Element, chance: Random, vocabulary: Vocabulary) -> None:
    piece = deepcopy(_any(root, chance))
    if len(list(piece.iter())) < 40:
        _any(root, chance).append(piece)


def _rename_element(root: ElementTree.Element, chance: Random, vocabulary: Vocabulary) -> None:
    _any(root, chance).tag = chance.choice(vocabulary.tags)


def _new_element(root: ElementTree.Element, chance: Random, vocabulary: Vocabulary) -> None:
    element = ElementTree.SubElement(_any(root, chance), chance.choice(vocabulary.tags))
    for _ in range(chance.randint(0, 4)):
        element.set(chance.choice(vocabulary.keys), vocabulary.value(chance))


def _nest_element(root: ElementTree.Element, chance: Random, vocabulary: Vocabulary) -> None:
    element = _any(root, chance)
    for _ in range(chance.choice((1, 3, 30, 400))):
        element = ElementTree.SubElement(element, element.tag, element.attrib)


_TREE_CHANGES: tuple[Callable[[ElementTree.Element, Random, Vocabulary], None], ...] = (
    _set_attribute, _set_attribute, _set_attribute, _set_attribute, _drop_attribute, _drop_element, _copy_element,
    _rename_element, _new_element, _new_element, _nest_element,
)  # fmt: skip
