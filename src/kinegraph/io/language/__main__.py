"""`python -m kinegraph.io.language`: write the tables of all parsers, after a change to the grammar."""

from pathlib import Path

from kinegraph.io.language.grammar import Start, serialized_tables

if __name__ == "__main__":
    for start in Start:
        Path(str(start.tables)).write_bytes(serialized_tables(start))
