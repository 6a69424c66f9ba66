"""Packages that only some users need: the extras that errors name exist, and tests have them all."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from kinegraph.errors import MissingPackageError
from kinegraph.extras import EXTRAS, extra

PROJECT = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text("utf-8"))["project"]


def packages(requirements: list[str]) -> set[str]:
    """Names of packages, without versions and conditions."""
    return {re.split(r"[\s\[<>=;]", one)[0] for one in requirements}


def test_every_extra_that_an_error_names_can_be_installed() -> None:
    assert set(EXTRAS.values()) <= PROJECT["optional-dependencies"].keys()


def test_tests_have_what_users_may_install() -> None:
    extras = PROJECT["optional-dependencies"]
    for name in extras.keys() - {"test", "bench"}:
        assert packages(extras[name]) <= packages(extras["test"]), name


def test_what_everyone_gets_is_not_an_extra() -> None:
    """Whoever installs Kinegraph alone must be able to follow the README; what an extra brings is not there."""
    assert not {module for module in EXTRAS if module in packages(PROJECT["dependencies"])}


def test_a_missing_package_is_named_with_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingPackageError, match=r"a Parquet file needs .* pyarrow(.|\n)*kinegraph\[parquet\]"):
        extra("pyarrow.parquet", "a Parquet file")
