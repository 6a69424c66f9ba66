"""Everything SDFormat (1.4 to 1.11) can say, and what becomes of it."""

from __future__ import annotations

from kinegraph.io.robot.vocabulary import IDLE, Vocabulary, entry, idle, left_out, missing, understood

_EXTENSIONS = "plugin=extension gripper=extension drake:*=extension gz:*=extension ignition:*=extension"
_WORD = entry(has_text=True)

SDF: Vocabulary = {
    "sdf": entry(understood("version"), children="world model light=idle actor"),
    "world": entry(
        idle("name"),
        children="model include=scenery light=idle scene=idle gui=idle physics=idle audio=idle magnetic_field=idle "
        "spherical_coordinates=idle road=idle atmosphere=idle wind state actor joint=world_joint frame=idle "
        "population=scenery " + _EXTENSIONS,
        once="gravity=word",
    ),
    "model": entry(
        understood("name canonical_link placement_frame"),
        children="link joint frame model=elsewhere include=elsewhere self_collide=idle allow_auto_disable=idle "
        "enable_wind=wind " + _EXTENSIONS,
        once="pose static=word",
    ),
    "pose": entry(
        understood("relative_to rotation_format degrees"), missing("poses in other frames", frame=""), has_text=True
    ),
    "frame": entry(understood("name attached_to"), once="pose"),
    "link": entry(
        understood("name"),
        children="visual=shape collision=shape sensor=idle light=idle projector=idle audio_source=idle "
        "audio_sink=idle battery=idle particle_emitter=idle must_be_base_link=idle self_collide=idle "
        "enable_wind=wind gravity=weight kinematic velocity_decay " + _EXTENSIONS,
        once="pose inertial",
    ),
    "inertial": entry(
        understood("auto"), children="fluid_added_mass density=idle auto_inertia_params=idle",
        once="pose mass=word inertia"
    ),
    "inertia": entry(once="ixx=word iyy=word izz=word ixy=word iyz=word ixz=word"),
    "shape": entry(
        idle("name"),
        children="cast_shadows=idle laser_retro=idle transparency=idle visibility_flags=idle meta=idle surface=idle "
        "max_contacts=idle density=idle auto_inertia_params=idle " + _EXTENSIONS,
        once="pose geometry material",
    ),
    "geometry": entry(
        children="empty=idle plane=idle cone=undrawn heightmap=undrawn image=undrawn polyline=undrawn",
        once="box cylinder=round sphere=round capsule=round ellipsoid mesh",
    ),
    "box": entry(once="size=word"),
    "round": entry(once="radius=word length=word"),
    "ellipsoid": entry(once="radii=word"),
    "mesh": entry(
        idle("optimization"), children="submesh=idle convex_decomposition=idle drake:*=extension",
        once="uri=word scale=word"
    ),
    "material": entry(children="*=idle", once="diffuse=word"),
    "joint": entry(
        understood("name type"),
        children="sensor=idle physics=idle gearbox_ratio=gearbox gearbox_reference_body=gearbox " + _EXTENSIONS,
        once="pose parent=word child=word axis axis2=axis screw_thread_pitch=word thread_pitch=word",
    ),
    "axis": entry(
        children="initial_position drake:*=extension",
        once="xyz use_parent_model_frame=word limit dynamics mimic",
    ),
    "mimic": entry(understood("joint axis"), once="multiplier=word offset=word reference=word"),
    "xyz": entry(understood("expressed_in"), has_text=True),
    "limit": entry(
        children="stiffness=idle dissipation=idle drake:*=extension",
        once="lower=word upper=word velocity=word effort=word",
    ),
    "dynamics": entry(once="damping=word friction=word spring_stiffness=word spring_reference=word"),
    "word": _WORD,
    "idle": IDLE,
    "actor": left_out("actors"),
    "wind": left_out("wind", texts="false 0"),
    "state": left_out("states of a world"),
    "world_joint": left_out("joints between models"),
    "scenery": left_out("included models"),
    "elsewhere": left_out("models inside models"),  # the reader refuses them where links would be missing
    "weight": left_out("links without weight", texts="true 1"),
    "kinematic": left_out("links moved by hand", texts="false 0"),
    "velocity_decay": left_out("damping of links"),
    "fluid_added_mass": left_out("fluid forces"),
    "undrawn": left_out("shapes that are not read"),
    "gearbox": left_out("gearboxes"),
    "initial_position": left_out("initial positions", texts="0 0.0"),
    "extension": left_out("extensions of other programs"),
}  # fmt: skip
