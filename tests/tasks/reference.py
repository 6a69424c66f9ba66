"""Reference numbers of the tasks: computed by independent methods with 28 to 50 digits (each file says how)."""

import json
from pathlib import Path
from typing import Any

_FOLDER = Path(__file__).parents[1] / "data" / "tasks"


def reference(name: str) -> dict[str, Any]:
    """One file of reference numbers."""
    return json.loads((_FOLDER / f"{name}.json").read_text("utf-8"))
