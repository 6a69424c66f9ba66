"""`import kinegraph`: the documented names, whatever was imported before, and quickly."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import kinegraph as kg
from tests.cli.run import ENVIRONMENT
from tests.effort import SOAK
from tests.programs import HANGS

ROOT = Path(__file__).parents[2]


def python(code):
    """Run code in a new process, warnings as errors; returns what it prints."""
    command = [sys.executable, "-W", "error", "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, timeout=HANGS, env=ENVIRONMENT)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.mark.parametrize("name", kg.__all__)
def test_every_name_exists_and_is_documented(name):
    assert getattr(kg, name).__doc__
    assert name in dir(kg)


def test_every_name_the_pages_use_exists():
    pages = [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]
    used = {name for page in pages for name in re.findall(r"\bkg\.(\w+)", page.read_text("utf-8")) if name != "kg"}
    assert {name for name in used if not hasattr(kg, name)} == set()


def test_unknown_names_are_attribute_errors():
    with pytest.raises(AttributeError, match="nothing_like_it"):
        kg.nothing_like_it  # noqa: B018


BEFORE = [
    "",
    "from kinegraph.compiler.bind import kernel_of",
    "import kinegraph.cli",
]
if SOAK:
    BEFORE += [
        "import kinegraph.derive.quantities.quantity",
        "import kinegraph.compiler.compile",
        "import kinegraph.compiler.minimize",
        "from kinegraph.derive.quantities import derivation",
        "from kinegraph import compile, derive",
    ]


# One process for all: what was imported of ours is forgotten in between, what is of others stays.
FRESH = """
import sys

def fresh(code):
    for name in [name for name in sys.modules if name.partition(".")[0] == "kinegraph"]:
        del sys.modules[name]
    exec(code, {})
"""
IMPORTING = """import kinegraph as kg; kg.derive
from kinegraph.derive.quantities.quantity import Quantity
from kinegraph.compiler.bind import kernel_of
print(kernel_of.__name__)"""
_SAME = "assert first == (kg.derive, kg.compile, kg.minimize, kg.simulate)\n"
NAMING = (
    f"\nimport kinegraph as kg\nfirst = kg.derive, kg.compile, kg.minimize, kg.simulate\n{_SAME}"
    f"import kinegraph.derive.dynamics.energy, kinegraph.compiler.minimize\n{_SAME}"
    "print(*(type(one).__name__ for one in first), kg.library.__name__)"
)


@pytest.fixture(scope="module")
def printed():
    """What each piece of code prints in a fresh package."""
    pieces = [IMPORTING, *(before + NAMING for before in BEFORE)]
    lines = python(FRESH + "".join(f"fresh({piece!r})\n" for piece in pieces)).splitlines()
    return dict(zip(pieces, lines, strict=True))


def test_functions_are_not_hidden_by_modules_of_the_same_name(printed):
    expected = "function function function function kinegraph.library"
    assert {before: printed[before + NAMING] for before in BEFORE} == dict.fromkeys(BEFORE, expected)


def test_the_modules_of_the_same_name_can_still_be_imported(printed):
    assert printed[IMPORTING] == "kernel_of"


def test_importing_brings_in_nothing_heavy():
    heavy = ("numpy", "llvmlite", "flint", "lark", "scipy", "sqlalchemy", "matplotlib", "typer")
    assert python(f"import sys, kinegraph; print([name for name in {heavy!r} if name in sys.modules])") == "[]"


def test_version_is_that_of_the_project():
    assert kg.__version__ == tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
