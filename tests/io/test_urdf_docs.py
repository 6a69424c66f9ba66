"""The code of docs/robots.md is run, and what the page shows is what it prints."""

from __future__ import annotations

import io
import re
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

PAGE = Path(__file__).parents[2] / "docs" / "robots.md"


def test_the_page_shows_what_its_code_prints() -> None:
    pairs = re.findall(
        r"^```python\n(.*?)^```\n\n```text\n(.*?)^```$", PAGE.read_text("utf-8"), re.DOTALL | re.MULTILINE
    )
    names: dict[str, Any] = {}
    for code, shown in pairs:
        printed = io.StringIO()
        with redirect_stdout(printed):
            exec(compile(code, PAGE.name, "exec"), names)
        assert printed.getvalue().strip() == shown.strip()
    assert len(pairs) == 3
