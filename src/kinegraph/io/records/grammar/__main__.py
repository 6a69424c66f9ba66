"""`python -m kinegraph.io.records.grammar`: write the tables of all parsers, after a change of the grammar."""

from pathlib import Path

from kinegraph.io.records.grammar.parser import Start, written

if __name__ == "__main__":
    for start in Start:
        Path(str(start.tables)).write_bytes(written(start))
