"""The quantities of a mechanism: their table, and how a request is derived.

A row of the table names functions of the subject modules. These are imported when a function is first called:
most processes find their code in the cache and call none.
"""

from __future__ import annotations

from kinegraph.lazy_imports import import_where_called

# How quantities are read off a derivation: one file a family, each function a row's `derive`.
#
# Rows name these functions, and every process reads the table. Most call none of them: their code is in the cache.

import_where_called(__name__)
