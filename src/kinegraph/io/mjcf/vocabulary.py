"""Everything MJCF can say (the schema of MuJoCo, version 4.0 and words of older ones), and what becomes of it."""

from __future__ import annotations

from kinegraph.io.robot.vocabulary import IDLE, Vocabulary, entry, idle, left_out, missing, understood

_ORIENTATION = "quat axisangle xyaxes zaxis euler"
_PLACE = f"pos {_ORIENTATION}"
_CONTACT = "condim friction solmix solref solimp margin gap priority adhesion surfacevel"
_SOFTNESS = "solref solimp"
_ACTUATORS = (
    "general motor position velocity intvelocity orientation pid damper cylinder muscle adhesion dcmotor plugin"
)
_IN_BODIES = (
    "body frame joint freejoint geom site camera=idle light=idle plugin composite=generated flexcomp=generated "
    "replicate attach=generated"
)

MJCF: Vocabulary = {
    "mujoco": entry(
        understood("model"),
        children="compiler option size=idle statistic=idle visual=idle default asset worldbody custom=idle extension "
        "deformable contact tendon equality actuator sensor=idle keyframe",
    ),
    "compiler": entry(
        understood("angle autolimits coordinate eulerseq meshdir assetdir"),
        understood("inertiafromgeom inertiagrouprange settotalmass boundmass boundinertia balanceinertia"),
        understood("fitaabb strippath alignfree exactmeshinertia"),
        idle("conflict discardvisual fusestatic"),
        idle("texturedir usethread savecanonical savecompiled saveinertial convexhull"),
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
        understood("gravity contact constraint frictionloss limit passive spring damper equality"),
        idle("actuation clampctrl warmstart filterparent refsafe sensor"),
        idle("midphase"),
        idle("nativeccd eulerdamp autoreset island override energy fwdinv invdiscrete multiccd sensornoise sleep ipc"),
        idle("diagexact speculative"),
    ),
    # Classes of elements that are left out are not looked at: the elements themselves are reported.
    "default": entry(
        understood("class"),
        children="default joint geom site mesh material=idle "
        "texture=idle camera=idle light=idle pair=idle equality=equality_class tendon=idle "
        + " ".join(f"{actuator}=idle" for actuator in _ACTUATORS.split()),
    ),
    "asset": entry(
        children="mesh material=idle texture=idle skin=idle hfield=height_field model=model_asset",
    ),
    "mesh": entry(
        understood("name class file content_type scale refpos refquat vertex face inertia maxhullvert"),
        idle("material normal texcoord smoothnormal"),
        missing("generated meshes", builtin="none", params=None),
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
    "replicate": entry(understood("count sep offset euler childclass"), children=_IN_BODIES),
    "inertial": entry(understood(f"mass diaginertia fullinertia {_PLACE}")),
    "joint": entry(
        understood("name class type pos axis ref springref stiffness damping armature frictionloss limited range"),
        understood("actuatorfrclimited actuatorfrcrange springdamper"),
        idle("group user margin solreflimit solimplimit solreffriction solimpfriction actuatorgravcomp"),
        missing("springs that yield", springyield="0"),
    ),
    "freejoint": entry(understood("name align"), idle("group")),
    "geom": entry(
        understood(f"class type size fromto {_PLACE} contype conaffinity mass density mesh"),
        understood("rgba group shellinertia fitscale"),
        idle(f"name user material hfield castshadow {_CONTACT}"),
        missing("fluid forces", fluidshape="none", fluidcoef=None),
        children="plugin",
    ),
    "site": entry(
        understood(f"name class fromto {_PLACE}"), idle("type size mesh material rgba group user")
    ),
    "plugin": left_out("plugins"),
    "extension": left_out("plugins"),
    "generated": left_out("generated bodies"),
    "height_field": left_out("height fields"),
    "model_asset": left_out("models inside models"),
    "deformable": entry(children="flex skin=idle"),
    "flex": left_out("deformable bodies"),
    "contact": entry(children="pair exclude=idle"),
    "pair": left_out("contacts"),
    "tendon": entry(children="spatial=a_tendon fixed=a_tendon"),
    "a_tendon": left_out("tendons"),
    "equality": entry(
        children="connect weld joint=relation tendon=constraint flex=constraint "
        "flexvert=constraint flexstrain=constraint distance=constraint",
    ),
    "equality_class": entry(understood("active"), idle(_SOFTNESS)),
    "connect": entry(understood("name class active body1 body2 anchor site1 site2"), idle(_SOFTNESS)),
    "weld": entry(
        understood("name class active body1 body2 anchor relpose site1 site2 torquescale"), idle(_SOFTNESS)
    ),
    "relation": entry(understood("name class active joint1 joint2 polycoef"), idle(_SOFTNESS)),
    "constraint": left_out("equality constraints", active="false"),
    "actuator": entry(children=" ".join(f"{actuator}=an_actuator" for actuator in _ACTUATORS.split())),
    "an_actuator": left_out("actuators"),
    "keyframe": entry(children="key"),
    "key": left_out("keyframes"),
    "idle": IDLE,
}  # fmt: skip
