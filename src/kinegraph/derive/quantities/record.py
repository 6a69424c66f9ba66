"""What is known of every quantity before it is derived: a row of the table of quantities."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from kinegraph.derive.quantities.variables import Variables


class Extent(Enum):
    """How long an index of a result runs, where the mechanism decides; the value is how pages write it."""

    VELOCITIES = "n"
    BASE_PARAMETERS = "b"
    #: Those of first-order equations.
    STATES = "s"
    #: Those of the model's `unknown` statements.
    UNKNOWNS = "r"
    #: One for every row of the loops and constraints.
    ROWS = "m"
    LEGS = "legs"
    #: Those of all legs of a platform.
    LEG_COORDINATES = "k"
    #: As many as the element has components to act with: one, or three.
    COMPONENTS = "c"


class Subject(Enum):
    """What a quantity may be asked of: the name that follows the colon."""

    MECHANISM = ""
    #: A body, or an output point.
    BODY = "BODY"
    #: A coordinate that moves one joint, or a body that one joint moves.
    JOINT = "JOINT"
    JOINT_AND_BODY = "JOINT:BODY"
    ELEMENT = "ELEMENT"
    CONTACT = "CONTACT"
    #: Names of coordinates may follow, as in `B:support:q1:q2`: those that are taken as independent.
    LOOP = "LOOP"

    @property
    def meaning(self) -> str:
        """What the name is the name of."""
        return _SUBJECTS[self]


_SUBJECTS = {
    Subject.MECHANISM: "nothing",
    Subject.BODY: "a body or an output point",
    Subject.JOINT: "a joint's coordinate, or of the body it moves",
    Subject.JOINT_AND_BODY: "a joint's coordinate, or of the body it moves, and of a body",
    Subject.ELEMENT: "an element",
    Subject.CONTACT: "a compliant contact",
    Subject.LOOP: "a loop",
}


class Frame(Enum):
    """Along what the components of a result are taken."""

    NONE = "none"
    COORDINATES = "the coordinates"
    FIXED = "fixed axes"
    ELEMENT = "the element's axes"
    ROWS = "the rows of the constraints"
    CLOSING = "the axes of the loop's first frame"


class Choice(Enum):
    """The choices of a plan beyond frames and origins that matter to a quantity."""

    INERTIA = "inertia"
    FORWARD = "forward"
    UNKNOWNS = "unknowns"


class Topology(Enum):
    """How the bodies of a mechanism are connected, which decides what recursive algorithms compute."""

    TREES = "trees"
    CLOSED_LOOPS = "mechanisms with closed loops"


@dataclass(frozen=True, slots=True)
class Letter:
    """How mathematics writes a quantity: a letter (Greek ones by name), dots above it, an upper index."""

    stem: str
    dots: int = 0
    upper: str = ""


@dataclass(frozen=True, slots=True)
class QuantityRecord:
    """One quantity: everything that other parts of the package need to know of it.

    `arguments` are what it is a function of; inputs and states join them where elements act
    on it, time where the mechanism depends on time. `entries` are the variables whose names its entries bear,
    `synonyms` other words people use.
    """

    name: str
    meaning: str
    arguments: tuple[Variables, ...]
    shape: tuple[Extent | int, ...]
    frame: Frame
    unit: str
    letter: Letter | None = None
    subject: Subject = Subject.MECHANISM
    #: Another frame can be asked for, as in `pose:hand@base`.
    any_frame: bool = False
    entries: Variables | None = None
    #: Its entries are these variables, and not only named after them.
    variables: bool = False
    #: Elements and inputs act on it.
    driven: bool = False
    #: Unknown forces do not act on it: it tells what they must be.
    of_unknowns: bool = False
    #: Recursive algorithms compute it for large mechanisms of these topologies.
    recursive: frozenset[Topology] = frozenset()
    #: Of long planar loops it is derived segment by segment.
    in_segments: bool = False
    #: With constraints, their rows are solved for it: in a singular position it means nothing.
    solves_rows: bool = False
    #: With constraints, it depends on which coordinates follow from the others.
    partitioned: bool = False
    #: It is derived from the tree of links alone, so that limbs of one shape can be written in one form.
    of_links: bool = False
    #: Of a platform it is derived from legs in closed form, so that these can be computed side by side.
    closed_legs: bool = False
    #: It can be asked of platforms only.
    of_platforms: bool = False
    #: Its values depend on where along their axes the links' origins are.
    of_origins: bool = False
    choices: frozenset[Choice] = frozenset()
    synonyms: tuple[str, ...] = ()

    @property
    def word(self) -> str:
        """How it is asked for, as in `pose:BODY`."""
        return f"{self.name}:{self.subject.value}" if self.subject.value else self.name
