"""The table of quantities, by subject. The rest of the package reads every property of a quantity here."""

from __future__ import annotations

from collections.abc import Iterator

from kinegraph.derive.quantities.record import Choice, Extent, Frame, Letter, QuantityRecord, Subject, Topology
from kinegraph.derive.quantities.variables import Variables

# What many rows share: groups of arguments, extents and units.

Q = (Variables.POSITIONS,)
QV = (*Q, Variables.VELOCITIES)
QVA = (*QV, Variables.ACCELERATIONS)
N = Extent.VELOCITIES
FORCE = "N, N m"
INERTIA = "kg, kg m, kg m^2"


# Forces, inertia and accelerations.

DYNAMICS: tuple[QuantityRecord, ...] = (
    QuantityRecord(
        "tau",
        "generalized forces for this motion (inverse dynamics)",
        arguments=QVA,
        shape=(N,),
        frame=Frame.COORDINATES,
        unit=FORCE,
        letter=Letter("tau"),
        entries=Variables.FORCES,
        variables=True,
        driven=True,
        recursive=frozenset({Topology.TREES}),
        of_links=True,
        closed_legs=True,
        synonyms=("inverse_dynamics", "rnea", "torque", "torques", "id"),
        solves_rows=True,
        partitioned=True,
    ),
    QuantityRecord(
        "H",
        "inertia matrix, symmetric, in the order of v",
        arguments=Q,
        shape=(N, N),
        frame=Frame.COORDINATES,
        unit=INERTIA,
        letter=Letter("H"),
        of_links=True,
        choices=frozenset({Choice.INERTIA}),
        synonyms=("M", "mass_matrix", "mass", "inertia", "inertia_matrix", "crba"),
    ),
    QuantityRecord(
        "C",
        "three-index array C[i][k][l]: the velocity forces are sum C[i][k][l] v[k] v[l]",
        arguments=Q,
        shape=(N, N, N),
        frame=Frame.COORDINATES,
        unit=INERTIA,
        letter=Letter("C"),
        of_links=True,
        choices=frozenset({Choice.INERTIA}),
        synonyms=("christoffel",),
    ),
    QuantityRecord(
        "coriolis",
        "Coriolis and centrifugal matrix: times v it gives the velocity forces",
        arguments=QV,
        shape=(N, N),
        frame=Frame.COORDINATES,
        unit="kg/s, kg m/s, kg m^2/s",
        letter=Letter("C", upper="v"),
        of_links=True,
        choices=frozenset({Choice.INERTIA}),
        synonyms=("centrifugal", "coriolis_matrix"),
    ),
    QuantityRecord(
        "gravity",
        "generalized forces that hold against gravity",
        arguments=Q,
        shape=(N,),
        frame=Frame.COORDINATES,
        unit=FORCE,
        letter=Letter("h", upper="G"),
        entries=Variables.FORCES,
        of_links=True,
        synonyms=("g", "G", "h"),
    ),
    QuantityRecord(
        "bias",
        "generalized forces at zero acceleration",
        arguments=QV,
        shape=(N,),
        frame=Frame.COORDINATES,
        unit=FORCE,
        letter=Letter("h"),
        entries=Variables.FORCES,
        driven=True,
        of_links=True,
        synonyms=("nonlinear_effects", "nle"),
    ),
    QuantityRecord(
        "qdd",
        "accelerations (forward dynamics)",
        arguments=(*QV, Variables.FORCES),
        shape=(N,),
        frame=Frame.COORDINATES,
        unit="m/s^2, rad/s^2",
        letter=Letter("q", dots=2),
        entries=Variables.ACCELERATIONS,
        variables=True,
        driven=True,
        recursive=frozenset(Topology),
        in_segments=True,
        of_links=True,
        closed_legs=True,
        choices=frozenset({Choice.INERTIA, Choice.FORWARD}),
        synonyms=("forward_dynamics", "aba", "accelerations", "a", "ddq", "fd"),
        solves_rows=True,
    ),
)


# Unknown forces X of a given motion, from A X = B.

UNKNOWN_FORCES: tuple[QuantityRecord, ...] = (
    QuantityRecord(
        "A_unknown",
        "A of A X = B for the unknowns X of the model: the generalized forces of a unit of each",
        arguments=QV,
        shape=(N, Extent.UNKNOWNS),
        frame=Frame.COORDINATES,
        unit="1, m",
        letter=Letter("A", upper="X"),
        driven=True,
        of_unknowns=True,
        solves_rows=True,
        choices=frozenset({Choice.UNKNOWNS}),
        partitioned=True,
        synonyms=("unknown_matrix",),
    ),
    QuantityRecord(
        "B_unknown",
        "B of A X = B: the generalized forces for this motion while the unknowns are zero",
        arguments=QVA,
        shape=(N,),
        frame=Frame.COORDINATES,
        unit=FORCE,
        letter=Letter("B", upper="X"),
        entries=Variables.FORCES,
        driven=True,
        of_unknowns=True,
        solves_rows=True,
        partitioned=True,
        synonyms=("unknown_right_side",),
    ),
)


# First-order equations of motors, valves and controllers.

STATES: tuple[QuantityRecord, ...] = (
    QuantityRecord(
        "state_rates",
        "rates of the first-order states, in the order of the model",
        arguments=QV,
        shape=(Extent.STATES,),
        frame=Frame.NONE,
        unit="unit of the state / s",
        letter=Letter("z", dots=1),
        driven=True,
        synonyms=("zdot", "zd", "rates", "states"),
    ),
)


# Energy, momentum, and what elements do to both.

ENERGY: tuple[QuantityRecord, ...] = (
    QuantityRecord(
        "energy",
        "kinetic and potential energy",
        arguments=QV,
        shape=(2,),
        frame=Frame.NONE,
        unit="J",
        letter=Letter("E"),
        recursive=frozenset(Topology),
        synonyms=("kinetic", "potential", "T", "V", "E"),
    ),
    QuantityRecord(
        "momentum",
        "linear momentum, then angular momentum about the origin",
        arguments=QV,
        shape=(6,),
        frame=Frame.FIXED,
        unit="N s, N m s",
        synonyms=("linear_momentum", "angular_momentum", "P", "L"),
    ),
    QuantityRecord(
        "forces",
        "generalized forces of springs, dampers, forces and all other elements",
        arguments=QV,
        shape=(N,),
        frame=Frame.COORDINATES,
        unit=FORCE,
        letter=Letter("Q"),
        entries=Variables.FORCES,
        driven=True,
        synonyms=("Q", "element_forces", "generalized_forces"),
    ),
    QuantityRecord(
        "power",
        "power dissipated by elements, then power supplied by them; what tau supplies comes on top",
        arguments=QV,
        shape=(2,),
        frame=Frame.NONE,
        unit="W",
        letter=Letter("P"),
        driven=True,
        synonyms=("dissipation",),
    ),
    QuantityRecord(
        "prescribed_power",
        "power supplied by the prescribed motion of transforms, gravity and constraints",
        arguments=(*QV, Variables.FORCES),
        shape=(1,),
        frame=Frame.NONE,
        unit="W",
        driven=True,
        choices=frozenset({Choice.INERTIA}),
        synonyms=("drive_power", "rheonomic_power"),
        solves_rows=True,
    ),
)


# Center of mass and centroidal momentum of the bodies that move.

CENTROIDAL: tuple[QuantityRecord, ...] = (
    QuantityRecord(
        "com",
        "center of mass of all bodies that move",
        arguments=Q,
        shape=(3,),
        frame=Frame.FIXED,
        unit="m",
        letter=Letter("c"),
        synonyms=("center_of_mass", "centre_of_mass"),
    ),
    QuantityRecord(
        "com_jacobian",
        "derivative of the center of mass by displacements: times v it gives its velocity",
        arguments=Q,
        shape=(3, N),
        frame=Frame.FIXED,
        unit="m, 1",
        letter=Letter("J", upper="c"),
    ),
    QuantityRecord(
        "com_velocity",
        "velocity of the center of mass",
        arguments=QV,
        shape=(3,),
        frame=Frame.FIXED,
        unit="m/s",
        letter=Letter("c", dots=1),
    ),
    QuantityRecord(
        "com_acceleration",
        "acceleration of the center of mass",
        arguments=QVA,
        shape=(3,),
        frame=Frame.FIXED,
        unit="m/s^2",
        letter=Letter("c", dots=2),
    ),
    QuantityRecord(
        "com_bias",
        "acceleration of the center of mass at a = 0",
        arguments=QV,
        shape=(3,),
        frame=Frame.FIXED,
        unit="m/s^2",
    ),
    QuantityRecord(
        "centroidal_momentum",
        "linear momentum, then angular momentum about the center of mass",
        arguments=QV,
        shape=(6,),
        frame=Frame.FIXED,
        unit="N s, N m s",
        synonyms=("centroidal", "hg"),
    ),
    QuantityRecord(
        "centroidal_matrix",
        "centroidal momentum matrix: times v it gives the centroidal momentum",
        arguments=Q,
        shape=(6, N),
        frame=Frame.FIXED,
        unit="kg, kg m, kg m^2",
        letter=Letter("A", upper="G"),
        synonyms=("Ag", "cmm", "ccrba"),
    ),
    QuantityRecord(
        "centroidal_bias",
        "rate of the centroidal momentum at a = 0",
        arguments=QV,
        shape=(6,),
        frame=Frame.FIXED,
        unit="N, N m",
    ),
)


# Loops and constraints: rows, multipliers, reactions.

CONSTRAINTS: tuple[QuantityRecord, ...] = (
    QuantityRecord(
        "constraints",
        "what loops and constraints miss by position, row by row: zero where the mechanism is assembled",
        arguments=Q,
        shape=(Extent.ROWS,),
        frame=Frame.ROWS,
        unit="m, rad",
        letter=Letter("Phi"),
        synonyms=("loops", "closure", "violation"),
    ),
    QuantityRecord(
        "constraint_jacobian",
        "derivative of the constraints by displacements, row by row",
        arguments=Q,
        shape=(Extent.ROWS, N),
        frame=Frame.ROWS,
        unit="m, 1",
        letter=Letter("J", upper="Phi"),
        synonyms=("closure_jacobian",),
    ),
    QuantityRecord(
        "constraint_rates",
        "what loops and constraints miss by velocity, row by row",
        arguments=QV,
        shape=(Extent.ROWS,),
        frame=Frame.ROWS,
        unit="m/s, rad/s",
        letter=Letter("Phi", dots=1),
        synonyms=("velocity_constraints",),
    ),
    QuantityRecord(
        "constraint_accelerations",
        "what loops and constraints miss by acceleration, row by row",
        arguments=QVA,
        shape=(Extent.ROWS,),
        frame=Frame.ROWS,
        unit="m/s^2, rad/s^2",
        letter=Letter("Phi", dots=2),
        synonyms=("acceleration_constraints",),
    ),
    QuantityRecord(
        "multipliers",
        "force or moment that the first frame of each row exerts on the second",
        arguments=(*QV, Variables.FORCES),
        shape=(Extent.ROWS,),
        frame=Frame.ROWS,
        unit=FORCE,
        letter=Letter("lambda"),
        driven=True,
        choices=frozenset({Choice.INERTIA}),
        synonyms=("lambda", "constraint_forces", "lagrange_multipliers"),
        solves_rows=True,
        in_segments=True,
    ),
    QuantityRecord(
        "A",
        "how the dependent velocities move a loop's second frame against its first: A dp = B du + closing errors",
        arguments=Q,
        shape=(6, N),
        frame=Frame.CLOSING,
        unit="m, 1",
        letter=Letter("A"),
        subject=Subject.LOOP,
        partitioned=True,
    ),
    QuantityRecord(
        "B",
        "the same of the independent velocities, with the other sign: P = H a + B^T sigma + ... where these act",
        arguments=Q,
        shape=(6, N),
        frame=Frame.CLOSING,
        unit="m, 1",
        letter=Letter("B"),
        subject=Subject.LOOP,
        partitioned=True,
    ),
    QuantityRecord(
        "increments",
        "displacements of the dependent coordinates that take away a unit of what each row misses",
        arguments=Q,
        shape=(N, Extent.ROWS),
        frame=Frame.ROWS,
        unit="1, m, 1/m",
        letter=Letter("Delta", upper="q"),
        synonyms=("closing_increments",),
        solves_rows=True,
        partitioned=True,
    ),
    QuantityRecord(
        "reaction",
        "force and moment of a joint's parent on its body (of a loop's first frame on its second), at its point there",
        arguments=(*QV, Variables.FORCES),
        shape=(6,),
        frame=Frame.FIXED,
        unit=FORCE,
        letter=Letter("R"),
        subject=Subject.JOINT,
        any_frame=True,
        driven=True,
        choices=frozenset({Choice.INERTIA}),
        synonyms=("reactions", "joint_force", "joint_wrench", "sigma"),
        solves_rows=True,
    ),
    QuantityRecord(
        "transmission",
        "what a multiplier of 1 of every row adds to a reaction",
        arguments=Q,
        shape=(6, Extent.ROWS),
        frame=Frame.FIXED,
        unit="1, m",
        letter=Letter("W", upper="R"),
        subject=Subject.JOINT,
        any_frame=True,
    ),
    QuantityRecord(
        "qdd_proximal",
        "accelerations in a singular position: of all that fit, with the least constraint forces; less exact near it",
        arguments=(*QV, Variables.FORCES),
        shape=(N,),
        frame=Frame.COORDINATES,
        unit="m/s^2, rad/s^2",
        letter=Letter("q", dots=2),
        entries=Variables.ACCELERATIONS,
        driven=True,
        choices=frozenset({Choice.INERTIA}),
        synonyms=("proximal",),
    ),
    QuantityRecord(
        "pivots",
        "how independent the rows of each joint are of those before them, from 1 to 0: near 0 the position is singular",
        arguments=Q,
        shape=(Extent.ROWS,),
        frame=Frame.ROWS,
        unit="1",
        choices=frozenset({Choice.INERTIA}),
        synonyms=("conditioning",),
        recursive=frozenset({Topology.CLOSED_LOOPS}),
        in_segments=True,
    ),
)


# Platforms on legs.

PLATFORMS: tuple[QuantityRecord, ...] = (
    QuantityRecord(
        "platform_acceleration",
        "accelerations of a platform alone: of its position, then of its rotation",
        arguments=(*QV, Variables.FORCES),
        shape=(6,),
        frame=Frame.COORDINATES,
        unit="m/s^2, rad/s^2",
        driven=True,
        of_links=True,
        closed_legs=True,
        of_platforms=True,
    ),
    QuantityRecord(
        "leg_positions",
        "coordinates of a platform's legs from the poses of platform and base alone, in the order of q",
        arguments=Q,
        shape=(Extent.LEG_COORDINATES,),
        frame=Frame.COORDINATES,
        unit="m, rad",
        of_links=True,
        closed_legs=True,
        of_platforms=True,
        synonyms=("leg_lengths", "legs"),
    ),
    QuantityRecord(
        "leg_velocities",
        "rates of the coordinates of a platform's legs from the motion of platform and base alone, in the order of v",
        arguments=QV,
        shape=(Extent.LEG_COORDINATES,),
        frame=Frame.COORDINATES,
        unit="m/s, rad/s",
        of_links=True,
        closed_legs=True,
        of_platforms=True,
        synonyms=("leg_rates",),
    ),
    QuantityRecord(
        "platform_forces",
        "force and moment that each leg of a platform exerts on the platform at its joint there",
        arguments=(*QV, Variables.FORCES),
        shape=(Extent.LEGS, 6),
        frame=Frame.FIXED,
        unit=FORCE,
        driven=True,
        of_links=True,
        closed_legs=True,
        of_platforms=True,
        synonyms=("leg_forces", "platform_joint_forces"),
    ),
    QuantityRecord(
        "leg_reactions",
        "force and moment, about the base's origin, that each leg of a platform exerts on what it stands on",
        arguments=(*QV, Variables.FORCES),
        shape=(Extent.LEGS, 6),
        frame=Frame.FIXED,
        unit=FORCE,
        driven=True,
        of_links=True,
        closed_legs=True,
        of_platforms=True,
        synonyms=("legs_on_base",),
    ),
    QuantityRecord(
        "base_reaction",
        "force and moment, about the base's origin, that a platform's legs and carriages together exert on the base",
        arguments=(*QV, Variables.FORCES),
        shape=(6,),
        frame=Frame.FIXED,
        unit=FORCE,
        driven=True,
        of_links=True,
        closed_legs=True,
        of_platforms=True,
        synonyms=("platform_reaction",),
    ),
)


# Poses, velocities and joint axes.

KINEMATICS: tuple[QuantityRecord, ...] = (
    QuantityRecord(
        "pose",
        "homogeneous matrix: rotation, and position in the last column",
        arguments=Q,
        shape=(4, 4),
        frame=Frame.FIXED,
        unit="1, m",
        letter=Letter("T"),
        subject=Subject.BODY,
        any_frame=True,
        synonyms=("position", "placement", "transform", "fk", "forward_kinematics"),
    ),
    QuantityRecord(
        "jacobian",
        "Jacobian: rows of the velocity, then of the angular velocity, by v",
        arguments=Q,
        shape=(6, N),
        frame=Frame.FIXED,
        unit="m, 1",
        letter=Letter("J"),
        subject=Subject.BODY,
        any_frame=True,
        synonyms=("J", "Jacobian"),
    ),
    QuantityRecord(
        "velocity",
        "velocity of a point, then angular velocity of its body",
        arguments=QV,
        shape=(6,),
        frame=Frame.FIXED,
        unit="m/s, rad/s",
        letter=Letter("V"),
        subject=Subject.BODY,
        any_frame=True,
        synonyms=("twist", "speed", "angular_velocity"),
    ),
    QuantityRecord(
        "acceleration",
        "acceleration of a point, then angular acceleration of its body",
        arguments=QVA,
        shape=(6,),
        frame=Frame.FIXED,
        unit="m/s^2, rad/s^2",
        letter=Letter("A"),
        subject=Subject.BODY,
        any_frame=True,
        synonyms=("point_acceleration", "angular_acceleration"),
    ),
    QuantityRecord(
        "acceleration_bias",
        "acceleration of a point, then angular acceleration of its body, at a = 0",
        arguments=QV,
        shape=(6,),
        frame=Frame.FIXED,
        unit="m/s^2, rad/s^2",
        subject=Subject.BODY,
        any_frame=True,
        synonyms=("jacobian_dot_v",),
    ),
    QuantityRecord(
        "jacobian_rate",
        "derivative of the entries of the Jacobian by time",
        arguments=QV,
        shape=(6, N),
        frame=Frame.FIXED,
        unit="m/s, 1/s",
        letter=Letter("J", dots=1),
        subject=Subject.BODY,
        any_frame=True,
        synonyms=("dJ", "jacobian_dot", "jacobian_time_variation"),
    ),
    QuantityRecord(
        "spatial_velocity",
        "velocity of the point of a body that is at the origin of the frame, then angular velocity",
        arguments=QV,
        shape=(6,),
        frame=Frame.FIXED,
        unit="m/s, rad/s",
        subject=Subject.BODY,
        any_frame=True,
        synonyms=("spatial_twist",),
    ),
    QuantityRecord(
        "spatial_acceleration",
        "spatial velocity differentiated in the fixed frame, then moved to the frame",
        arguments=QVA,
        shape=(6,),
        frame=Frame.FIXED,
        unit="m/s^2, rad/s^2",
        subject=Subject.BODY,
        any_frame=True,
    ),
    QuantityRecord(
        "spatial_jacobian",
        "Jacobian of the spatial velocity by v",
        arguments=Q,
        shape=(6, N),
        frame=Frame.FIXED,
        unit="m, 1",
        letter=Letter("J", upper="s"),
        subject=Subject.BODY,
        any_frame=True,
    ),
    QuantityRecord(
        "spatial_jacobian_rate",
        "derivative of the entries of the spatial Jacobian by time",
        arguments=QV,
        shape=(6, N),
        frame=Frame.FIXED,
        unit="m/s, 1/s",
        letter=Letter("J", dots=1, upper="s"),
        subject=Subject.BODY,
        any_frame=True,
    ),
    QuantityRecord(
        "operational_mobility",
        "J H^-1 J^T, the inverse of the operational-space inertia of a point and its body",
        arguments=Q,
        shape=(6, 6),
        frame=Frame.FIXED,
        unit="1/kg, 1/(kg m), 1/(kg m^2)",
        subject=Subject.BODY,
        any_frame=True,
        choices=frozenset({Choice.INERTIA}),
        synonyms=("operational_space_inertia", "operational_inertia", "lambda_inverse"),
        solves_rows=True,
    ),
    QuantityRecord(
        "axis",
        "direction of a joint's axis, a unit vector",
        arguments=Q,
        shape=(3,),
        frame=Frame.FIXED,
        unit="1",
        letter=Letter("e"),
        subject=Subject.JOINT,
        any_frame=True,
        synonyms=("joint_axis", "e"),
    ),
    QuantityRecord(
        "arm",
        "vector from a joint to a body's center of mass",
        arguments=Q,
        shape=(3,),
        frame=Frame.FIXED,
        unit="m",
        letter=Letter("r"),
        subject=Subject.JOINT_AND_BODY,
        any_frame=True,
        synonyms=("lever", "r"),
    ),
)


# What elements do one by one, and what is linear in parameters.

ELEMENTS_AND_PARAMETERS: tuple[QuantityRecord, ...] = (
    QuantityRecord(
        "structure",
        "structure matrix W of an element: its generalized forces are W^T times the components it acts with",
        arguments=Q,
        shape=(Extent.COMPONENTS, N),
        frame=Frame.ELEMENT,
        unit="target by coordinate",
        letter=Letter("W"),
        subject=Subject.ELEMENT,
        synonyms=("W", "structure_matrix"),
    ),
    QuantityRecord(
        "effort",
        "components an element acts with: its generalized forces are W^T times these, plus the friction of a contact",
        arguments=QV,
        shape=(Extent.COMPONENTS,),
        frame=Frame.ELEMENT,
        unit=FORCE,
        subject=Subject.ELEMENT,
        driven=True,
        synonyms=("element_force", "load"),
    ),
    QuantityRecord(
        "contact",
        "at each place of a compliant contact: the gap, the force on the first shape with friction, and its point",
        arguments=QV,
        shape=(Extent.COMPONENTS, 7),
        frame=Frame.FIXED,
        unit="m, N, m",
        subject=Subject.CONTACT,
        synonyms=("gap", "contact_force"),
    ),
    QuantityRecord(
        "regressor",
        "matrix that gives tau when it is multiplied by the base parameters; elements are left out",
        arguments=QVA,
        shape=(N, Extent.BASE_PARAMETERS),
        frame=Frame.COORDINATES,
        unit="tau by parameter",
        letter=Letter("Y"),
        of_origins=True,
        synonyms=("Y",),
    ),
    QuantityRecord(
        "base_parameters",
        "the fewest inertial parameters that tau depends on, in the order of the regressor's columns",
        arguments=(),
        shape=(Extent.BASE_PARAMETERS,),
        frame=Frame.NONE,
        unit=INERTIA,
        letter=Letter("chi"),
        of_origins=True,
        synonyms=("inertial_parameters",),
    ),
)


# The one table of quantities: whatever the package knows of a quantity by its name is read from here.

TABLE: tuple[QuantityRecord, ...] = (
    *DYNAMICS,
    *UNKNOWN_FORCES,
    *STATES,
    *ENERGY,
    *CENTROIDAL,
    *CONSTRAINTS,
    *PLATFORMS,
    *KINEMATICS,
    *ELEMENTS_AND_PARAMETERS,
)

#: The rows by their names.
RECORDS = {record.name: record for record in TABLE}


# The table of quantities as pages show it.

_TITLES = ("word", "what it is", "of", "shape", "components along", "unit", "elements act")


def markdown_table() -> str:
    """All rows as a table in Markdown, in the order of the table."""
    lines = ["| " + " | ".join(_TITLES) + " |", "|" + "---|" * len(_TITLES)]
    lines += ["| " + " | ".join(_cells(record)) + " |" for record in TABLE]
    return "\n".join(lines) + "\n"


def _cells(record: QuantityRecord) -> Iterator[str]:
    yield f"`{record.word}`"
    yield record.meaning.replace("|", "\\|")
    yield ", ".join(record.arguments) or "parameters"
    yield shape_text(record)
    yield f"{record.frame.value}, or `@FRAME`" if record.any_frame else _frame(record.frame)
    yield record.unit
    yield "yes" if record.driven else "no"


def _frame(frame: Frame) -> str:
    return "" if frame is Frame.NONE else frame.value


def shape_text(record: QuantityRecord) -> str:
    """The shape in letters: n velocities, b base parameters, c components."""
    return " x ".join(extent.value if isinstance(extent, Extent) else str(extent) for extent in record.shape)


def variables_text() -> str:
    """What derivatives are taken by, in Markdown."""
    return ", ".join(f"`{group.value}` {group.meaning}" for group in Variables)
