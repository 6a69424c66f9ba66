"""URDF, the robot description of ROS, read exactly and without trust."""

from kinegraph.io.urdf.load import load_urdf, parse_urdf

__all__ = ["load_urdf", "parse_urdf"]
