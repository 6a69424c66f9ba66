"""MJCF, the model format of MuJoCo, read exactly and without trust."""

from kinegraph.io.mjcf.load import load_mjcf, parse_mjcf

__all__ = ["load_mjcf", "parse_mjcf"]
