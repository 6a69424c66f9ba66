"""The statement of a shape: `shape Body | transforms | box(1, 2, 3), colour(0.2, 0.4, 0.6);`, for pages only."""

from __future__ import annotations

from collections.abc import Sequence

from kinegraph.errors import ModelError, Place
from kinegraph.io.records.items import Item, read_transforms
from kinegraph.model.evaluate import number
from kinegraph.model.names import did_you_mean
from kinegraph.model.places import Places
from kinegraph.model.robot.data import FORMS, Shape, ShapeKind

_COLOUR = "colour"


def read_shape(
    body: str | None, transforms: Sequence[Item], items: Sequence[Item], place: Place, places: Places
) -> Shape:
    """The shape of one statement."""
    colour: tuple[float, float, float, float] | None = None
    forms: list[Item] = []
    for item in items:
        if item.word == _COLOUR:
            colour = _colour(item)
        elif item.word in (kind.value for kind in FORMS):
            forms.append(item)
        else:
            words = [*(kind.value for kind in FORMS), _COLOUR]
            raise ModelError(f"{item.word} is neither a form nor a colour", item.place, did_you_mean(item.word, words))
    if len(forms) != 1:
        remedy = "write one of " + ", ".join(f"{kind.value}({', '.join(sizes)})" for kind, sizes in FORMS.items())
        raise ModelError(f"a shape has one form, found {len(forms)}", place, remedy)
    kind, sizes = ShapeKind(forms[0].word), forms[0].arguments or ()
    if len(sizes) != len(FORMS[kind]):
        remedy = f"write `{kind.value}({', '.join(FORMS[kind])})`"
        raise ModelError(f"a {kind.value} takes {len(FORMS[kind])} sizes, found {len(sizes)}", forms[0].place, remedy)
    shape = Shape(kind, body, sizes, read_transforms(transforms, places), colour=colour)
    return places.mark(shape, place)


def _colour(item: Item) -> tuple[float, float, float, float]:
    """Red, green, blue and perhaps opacity, numbers from 0 to 1."""
    remedy = "write `colour(red, green, blue)` or `colour(red, green, blue, opacity)`, numbers from 0 to 1"
    try:
        parts = [number(part, {}) for part in item.arguments or ()]
    except ModelError:
        raise ModelError("a colour is made of numbers", item.place, remedy) from None
    if len(parts) not in (3, 4) or not all(0 <= part <= 1 for part in parts):
        raise ModelError(f"a colour has 3 or 4 numbers from 0 to 1, found {len(parts)}", item.place, remedy)
    red, green, blue, *opacity = parts
    return red, green, blue, opacity[0] if opacity else 1.0
