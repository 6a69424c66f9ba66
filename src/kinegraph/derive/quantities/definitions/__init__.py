"""How quantities are read off a derivation: one file a family, each function a row's `derive`.

Rows name these functions, and every process reads the table. Most call none of them: their code is in the cache.
"""

from __future__ import annotations

from kinegraph.on_demand import import_where_called

import_where_called(__name__)
