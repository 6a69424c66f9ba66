"""Everything URDF can say, and what becomes of it."""

from __future__ import annotations

from kinegraph.io.robot.vocabulary import IDLE, Vocabulary, entry, idle, left_out, missing, understood

_EXTENSIONS = "extensions of other programs"
_GEOMETRY = "box cylinder sphere capsule mesh"

URDF: Vocabulary = {
    "robot": entry(
        understood("name version"),
        children="link joint material transmission gazebo sensor=idle camera=idle ros2_control=idle "
        "frame=idle loop_joint drake:*=extension "
        "mujoco=extension plugin=extension extension",
    ),
    "link": entry(
        understood("name"),
        idle("type drake_ignore"),
        children="visual=shape collision=shape self_collision_checking=idle collision_checking=idle "
        "self_filter=idle gravity=weightless kinematic=weightless sensor=idle drake:*=extension "
        "contact=contact_parameters",
        once="inertial",
    ),
    "inertial": entry(once="origin mass inertia"),
    "origin": entry(understood("xyz rpy quat_xyzw")),
    "mass": entry(understood("value")),
    "inertia": entry(understood("ixx iyy izz ixy ixz iyz")),
    "shape": entry(
        idle("name"), children="drake:*=extension", once="origin geometry material=shape_material verbose=idle"
    ),
    "geometry": entry(idle("name"), once=_GEOMETRY),
    "box": entry(understood("size")),
    "cylinder": entry(understood("radius length")),
    "sphere": entry(understood("radius")),
    "capsule": entry(understood("radius length")),
    "mesh": entry(understood("filename scale"), children="drake:*=extension"),
    "material": entry(understood("name"), once="color texture=idle"),
    "shape_material": entry(understood("name"), once="color texture=idle"),
    "color": entry(understood("rgba")),
    "joint": entry(
        understood("name type"),
        idle("dont_collapse"),
        children="drake:*=extension",
        once="origin parent child axis limit dynamics mimic calibration=idle safety_controller=idle",
    ),
    "parent": entry(understood("link")),
    "child": entry(understood("link")),
    "axis": entry(understood("xyz")),
    "limit": entry(
        understood("lower upper velocity effort"),
        idle("acceleration deceleration jerk command_effort current gear_velocity"),
        children="drake:*=extension",
    ),
    "dynamics": entry(
        understood("damping friction"), missing("joint springs", spring_stiffness="0", spring_reference="0"),
        missing("elastic drives", K=None, D=None, mu_viscous=None, mu_coulomb=None)
    ),
    "mimic": entry(understood("joint multiplier offset")),
    "transmission": entry(idle("name type"), children="actuator drake:*=extension *=idle", has_text=True),
    "actuator": entry(idle("name"), children="drake:*=extension *=idle", has_text=True),
    "gazebo": entry(
        idle("reference"),
        children="material=idle sensor=idle visual=idle collision=idle selfCollide=idle laserRetro=idle mu1=idle "
        "mu2=idle kp=idle kd=idle minDepth=idle maxVel=idle maxContacts=idle fdir1=idle provideFeedback=idle "
        "implicitSpringDamper=idle stopCfm=idle stopErp=idle cfmDamping=idle fudgeFactor=idle "
        "disableFixedJointLumping=idle preserveFixedJoint=idle disable_joint_lumping=idle springStiffness=spring "
        "springReference=spring dampingFactor=damping turnGravityOff=weightless gravity=weightless joint=gazebo_joint "
        "*=extension",
    ),
    "idle": IDLE,
    "spring": left_out("joint springs"),
    "damping": left_out("damping of links"),
    "weightless": left_out("links without weight"),
    "contact_parameters": left_out("contact parameters"),
    "loop_joint": entry(understood("name type"), children="link1=loop_end link2=loop_end", once="axis"),
    "loop_end": entry(understood("link xyz rpy")),
    "gazebo_joint": left_out("closed loops"),
    "extension": left_out(_EXTENSIONS),
}  # fmt: skip
