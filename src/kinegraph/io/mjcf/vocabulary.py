"""Everything MJCF can say (the schema of MuJoCo, version 4.0 and words of older ones), and what becomes of it."""

from __future__ import annotations

from kinegraph.io.robot.vocabulary import IDLE, Vocabulary, entry, idle, left_out, missing, understood

_ORIENTATION = "quat axisangle xyaxes zaxis euler"
_PLACE = f"pos {_ORIENTATION}"
_CONTACT = "condim friction solmix solref solimp margin gap priority adhesion surfacevel"
_ACTUATORS = (
    "general motor position velocity intvelocity orientation pid damper cylinder muscle adhesion dcmotor plugin"
)
_IN_BODIES = (
    "body frame joint freejoint geom site camera=idle light=idle plugin composite=generated flexcomp=generated "
    "replicate=generated attach=generated"
)

MJCF: Vocabulary = {
    "mujoco": entry(
        understood("model"),
        children="compiler option size=idle statistic=idle visual=idle default asset worldbody custom=idle extension "
        "deformable contact tendon equality actuator sensor=idle keyframe",
    ),
    "compiler": entry(
        understood("angle autolimits coordinate eulerseq meshdir assetdir"),
        understood("inertiafromgeom inertiagrouprange settotalmass"),
        idle("conflict discardvisual fusestatic"),
        idle("texturedir usethread savecanonical savecompiled saveinertial convexhull"),
        missing("changes of masses", boundmass="0", boundinertia="0", balanceinertia="false"),
        missing("shapes fitted to meshes", fitaabb="false"),
        missing("paths of meshes", strippath="false"),
        missing("mesh inertias", exactmeshinertia="false"),
        missing("aligned free bodies", alignfree="false"),
        children="lengthrange=idle",
    ),
    "option": entry(
        understood("gravity"),
        idle("timestep apirate impratio integrator cone jacobian solver iterations tolerance"),
        idle("ls_iterations ls_tolerance"),
        idle("noslip_iterations noslip_tolerance ccd_iterations ccd_tolerance mpr_iterations mpr_tolerance collision"),
        idle("sdf_iterations sdf_initpoints sleep_tolerance actuatorgroupdisable magnetic"),
        idle("o_margin o_solref o_solimp o_friction"),
        missing("fluid forces", density="0", viscosity="0", wind="0 0 0"),
        children="flag",
    ),
    "flag": entry(
        understood("gravity contact"),
        idle("constraint equality frictionloss limit actuation clampctrl warmstart filterparent refsafe sensor"),
        idle("midphase"),
        idle("nativeccd eulerdamp autoreset island override energy fwdinv invdiscrete multiccd sensornoise sleep ipc"),
        idle("diagexact speculative"),
        missing("switched off passive forces", passive="enable", spring="enable", damper="enable"),
    ),
    # Classes of elements that are left out are not looked at: the elements themselves are reported.
    "default": entry(
        understood("class"),
        children="default joint geom site mesh material=idle "
        "texture=idle camera=idle light=idle pair=idle equality=idle tendon=idle "
        + " ".join(f"{actuator}=idle" for actuator in _ACTUATORS.split()),
    ),
    "asset": entry(
        children="mesh material=idle texture=idle skin=idle hfield=idle model=model_asset",
    ),
    "mesh": entry(
        understood("name file"),
        idle("class material normal texcoord smoothnormal maxhullvert content_type"),
        missing("placed meshes", scale="1 1 1", refpos="0 0 0", refquat="1 0 0 0"),
        missing("meshes without a file", vertex=None, face=None, builtin="none", params=None),
        missing("mesh inertias", inertia="convex"),
        children="plugin",
    ),
    "worldbody": entry(children=_IN_BODIES),
    "body": entry(
        understood(f"name childclass {_PLACE}"),
        idle("user sleep simple fuse"),
        missing("gravity compensation", gravcomp="0"),
        missing("bodies moved by hand", mocap="false"),
        children=_IN_BODIES,
        once="inertial",
    ),
    "frame": entry(understood(f"childclass {_PLACE}"), idle("name"), children=_IN_BODIES),
    "inertial": entry(understood(f"mass diaginertia fullinertia {_PLACE}")),
    "joint": entry(
        understood("name class type pos axis ref springref stiffness damping armature frictionloss limited range"),
        understood("actuatorfrclimited actuatorfrcrange"),
        idle("group user margin solreflimit solimplimit solreffriction solimpfriction actuatorgravcomp"),
        missing("springs and dampers", springdamper="0 0", springyield="0"),
    ),
    "freejoint": entry(understood("name"), idle("group"), missing("aligned free bodies", align="auto")),
    "geom": entry(
        understood(f"class type size fromto {_PLACE} contype conaffinity mass density mesh"),
        understood("rgba group shellinertia"),
        idle(f"name user material hfield castshadow {_CONTACT}"),
        missing("shapes fitted to meshes", fitscale="1"),
        missing("fluid forces", fluidshape="none", fluidcoef=None),
        children="plugin",
    ),
    "site": entry(
        understood(f"name class fromto {_PLACE}"), idle("type size mesh material rgba group user")
    ),
    "plugin": left_out("plugins"),
    "extension": left_out("plugins"),
    "generated": left_out("generated bodies"),
    "model_asset": left_out("models inside models"),
    "deformable": entry(children="flex skin=idle"),
    "flex": left_out("deformable bodies"),
    "contact": entry(children="pair exclude=idle"),
    "pair": left_out("contacts"),
    "tendon": entry(children="spatial=a_tendon fixed=a_tendon"),
    "a_tendon": left_out("tendons"),
    "equality": entry(
        children="connect=constraint weld=constraint joint=constraint tendon=constraint flex=constraint "
        "flexvert=constraint flexstrain=constraint distance=constraint",
    ),
    "constraint": left_out("equality constraints", active="false"),
    "actuator": entry(children=" ".join(f"{actuator}=an_actuator" for actuator in _ACTUATORS.split())),
    "an_actuator": left_out("actuators"),
    "keyframe": entry(children="key"),
    "key": left_out("keyframes"),
    "idle": IDLE,
}  # fmt: skip
