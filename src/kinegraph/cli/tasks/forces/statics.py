"""`kinegraph statics`: forces that hold a mechanism at rest."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

import typer

from kinegraph.cli.common import JsonOption, SetOption, assignments, parameter_settings, print_json
from kinegraph.cli.model_source import ModelSource, reads_model
from kinegraph.cli.tasks.common import (
    AtOption,
    InputOption,
    LeastNormOption,
    UnknownOption,
    name_list,
    state_settings,
    zip_names,
)
from kinegraph.cli.tasks.forces.reactions import (
    AxesOption,
    BearingOption,
    PointOption,
    reactions_data,
    show_reactions,
    view_of,
)
from kinegraph.model.axes import Axes

JointOption = Annotated[
    list[str] | None,
    typer.Option("--joint", "-j", metavar="NAME", help="Joints whose reactions are wanted; all with --joint all."),
]


@reads_model
def run(
    source: ModelSource,
    at: AtOption = None,
    unknown: UnknownOption = "",
    inputs: InputOption = None,
    joint: JointOption = None,
    axes: AxesOption = Axes.WORLD,
    point: PointOption = None,
    bearing: BearingOption = False,
    least_norm: LeastNormOption = False,
    settings: SetOption = None,
    json: JsonOption = False,
) -> None:
    """The forces that hold a mechanism at rest against weight, springs and other elements, and what its joints carry.

    Example: kinegraph statics double-pendulum --at q1=0.5,q2=0.2 --joint all
    """
    from kinegraph.tasks.forces.joint_loads import all_joints
    from kinegraph.tasks.forces.statics import statics

    mechanism, view = source.mechanism(), view_of(axes, point, bearing)
    every = all_joints(mechanism) if joint == ["all"] else joint
    found = statics(
        mechanism,
        state_settings(mechanism, at),
        unknown=name_list(unknown),
        inputs=assignments(inputs or (), "--input"),
        joints=every or (),
        axes=view.axes,
        point=view.point,
        drives=view.drives,
        parameters=parameter_settings(mechanism, settings),
        least_norm=least_norm,
    )
    if not json:
        typer.echo(str(replace(found, reactions=())))
        if found.reactions:
            show_reactions(view, found.reactions)
        return
    print_json(
        {
            "q": zip_names(found.coordinates, found.q.tolist()),
            "forces": zip_names(found.unknowns, found.values.tolist()),
            "determinate": list(found.determinate),
            **reactions_data(view, found.reactions),
        }
    )
