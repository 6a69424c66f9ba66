"""`python -m kinegraph.derive.quantities`: the table of quantities in Markdown, for docs/quantities.md."""

from kinegraph.derive.quantities.table import markdown_table

if __name__ == "__main__":
    print(markdown_table(), end="")
