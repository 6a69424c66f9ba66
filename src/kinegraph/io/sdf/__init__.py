"""SDFormat, the model format of Gazebo and Drake, read exactly and without trust."""

from kinegraph.io.sdf.load import load_sdf, parse_sdf

__all__ = ["load_sdf", "parse_sdf"]
