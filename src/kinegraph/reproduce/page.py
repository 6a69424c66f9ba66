"""The page of a document: Markdown for the docs, HTML to be opened in a browser."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from kinegraph.reproduce.document import Reproduction, Section
from kinegraph.reproduce.entry import Entry, Verdict

_HEAD = ("quantity", "printed", "ours", "", "reason")


def markdown(found: Reproduction) -> str:
    """The page as Markdown."""
    return "\n".join(_markdown_lines(found))


def _markdown_lines(found: Reproduction) -> Iterator[str]:
    yield from (f"# {found.document.title}", "", f"{found.document.source}.", "", f"{found}.", "")
    for section in found.sections:
        yield from (f"## {section.title}", "", section.text, "")
        yield from (f"    {section.command}", "", f"{section.seconds:.1f} s here.", "")
        yield from (_row(_HEAD), _row(("---", "---:", "---:", "---", "---")))
        yield from (_row(tuple(map(_bars, _cells(entry)))) for entry in section.entries)
        yield ""


def _row(cells: tuple[str, ...]) -> str:
    return f"| {' | '.join(cells)} |"


def _bars(text: str) -> str:
    return text.replace("|", "\\|")


def _cells(entry: Entry) -> tuple[str, ...]:
    return entry.name, entry.printed, entry.ours, entry.verdict.value, entry.reason


def html(found: Reproduction) -> str:
    """The page as one HTML file, without anything from elsewhere."""
    body = "".join(_html_section(section) for section in found.sections)
    title = escape(found.document.title)
    head = f"<h1>{title}</h1><p>{escape(found.document.source)}.</p><p class=sum>{escape(str(found))}.</p>"
    opening = f"<!doctype html><html lang=en><meta charset=utf-8><title>{title}</title><style>{_STYLE}</style>"
    return f"{opening}{head}{body}</html>\n"


def _html_section(section: Section) -> str:
    heads = "".join(f"<th>{name}</th>" for name in _HEAD)
    rows = "".join(_html_row(entry) for entry in section.entries)
    text = f"<h2>{escape(section.title)}</h2><p>{escape(section.text)}</p>"
    command = f"<pre>{escape(section.command)}</pre><p class=time>{section.seconds:.1f} s here</p>"
    return f"<section>{text}{command}<table><tr>{heads}</tr>{rows}</table></section>"


def _html_row(entry: Entry) -> str:
    name, printed, ours, verdict, reason = map(escape, _cells(entry))
    numbers = f"<td class=n>{printed}</td><td class=n>{ours}</td>"
    return f"<tr class={entry.verdict.value}><td>{name}</td>{numbers}<td>{verdict}</td><td>{reason}</td></tr>"


_COLOURS = {
    Verdict.AGREES: "#1a7f37",
    Verdict.BETTER: "#0550ae",
    Verdict.EXPLAINED: "#6e7781",
    Verdict.UNEXPLAINED: "#cf222e",
}
_STYLE = (
    "body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:#1f2328}"
    "table{border-collapse:collapse;width:100%;font-size:.9rem}"
    "td,th{padding:.2rem .6rem;border-bottom:1px solid #d0d7de;"
    "text-align:left;vertical-align:top}td.n{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}"
    "pre{background:#f6f8fa;padding:.6rem;overflow-x:auto}.time{color:#6e7781;font-size:.85rem}.sum{font-weight:600}"
    "@media(prefers-color-scheme:dark){body{background:#0d1117;color:#e6edf3}pre{background:#161b22}"
    "td,th{border-color:#30363d}}"
    + "".join(f"tr.{verdict.value} td:nth-child(4){{color:{colour}}}" for verdict, colour in _COLOURS.items())
)
