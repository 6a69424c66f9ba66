"""What the Tab key offers: models, quantities, languages. `kinegraph --install-completion` tells the shell.

What is offered is imported when the key is pressed: every command imports this file.
"""

from __future__ import annotations

from pathlib import Path

#: Endings of files that hold models; other files are not offered.
_ENDINGS = (".kg", ".urdf", ".xml", ".mjcf", ".csv", ".txt")


def models(incomplete: str) -> list[str]:
    """Names of the library, model files, and folders that may hold some."""
    from kinegraph import library

    names = [name for name in (*library.names(), "pendulum-") if name.startswith(incomplete)]
    return names + _files(incomplete)


def quantities(incomplete: str) -> list[str]:
    """Words for quantities, after those that are there already: `H,gr` goes on as `H,gravity`."""
    before, comma, last = incomplete.rpartition(",")
    return [f"{before}{comma}{word}" for word in _words() if word.startswith(last)]


def languages(incomplete: str) -> list[str]:
    """What equations can be exported to."""
    from kinegraph.export.options import Language

    return [language.value for language in Language if language.value.startswith(incomplete)]


def _words() -> list[str]:
    """Quantities as they are typed; of `pose:BODY` only what stands before the name."""
    from kinegraph.derive.quantities.quantity import WORDS

    return [word[: word.index(":") + 1] if ":" in word else word for word in WORDS]


def _files(incomplete: str) -> list[str]:
    folder = Path(incomplete).parent if not incomplete.endswith("/") else Path(incomplete)
    try:
        found = sorted(folder.iterdir())
    except OSError:
        return []
    offered = [f"{one}/" if one.is_dir() else str(one) for one in found if one.is_dir() or one.suffix in _ENDINGS]
    return [one for one in offered if one.startswith(incomplete) and not one.startswith(".")]
