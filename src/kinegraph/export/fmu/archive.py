"""One .fmu file: a ZIP archive, the same bytes for the same contents."""

from __future__ import annotations

from collections.abc import Mapping
from io import BytesIO
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

_TIME = (1980, 1, 1, 0, 0, 0)  # the earliest a ZIP archive can state


def archive(contents: Mapping[str, bytes], comment: str) -> bytes:
    """The archive. The comment stands at its end as plain text, so that an export knows its own files again."""
    buffer = BytesIO()
    with ZipFile(buffer, "w") as file:
        file.comment = comment.encode()
        for name, content in contents.items():
            entry = ZipInfo(name, _TIME)
            entry.compress_type = ZIP_DEFLATED
            entry.external_attr = (0o755 if name.startswith("binaries/") else 0o644) << 16
            file.writestr(entry, content)
    return buffer.getvalue()
