"""The page of a document: Markdown for the docs, HTML for a browser; and an index of all documents."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from html import escape

from kinegraph.reproduce.document import Entry, Reproduction, Section, Verdict

_HEAD = ("quantity", "printed", "ours", "", "reason")
#: Longer tables show the differences, and fold the rest.
_LONG = 40
#: Cells with fewer characters stay on one line.
_SHORT = 26


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
        if section.figures:
            yield from ("", "Its figures are on the HTML page.")
        yield ""


def _row(cells: tuple[str, ...]) -> str:
    return f"| {' | '.join(cells)} |"


def _bars(text: str) -> str:
    return text.replace("|", "\\|")


def _cells(entry: Entry) -> tuple[str, ...]:
    return entry.name, entry.printed, entry.ours, entry.verdict.value, entry.reason


def html(found: Reproduction) -> str:
    """The page as one self-contained HTML file."""
    contents = _summary(("section", "seconds"), [
        (f"<a href='#s{k}'>{escape(one.title)}</a>", f"{one.seconds:.1f}", one.verdicts)
        for k, one in enumerate(found.sections)
    ])  # fmt: skip
    body = "".join(_html_section(k, section) for k, section in enumerate(found.sections))
    head = f"<p>{escape(found.document.source)}.</p><p class=sum>{escape(str(found))}.</p>{contents}"
    return _page(found.document.title, head + body)


def index(found: Sequence[Reproduction]) -> str:
    """An index page of all documents, with their counts."""
    rows = [
        (
            f"<a href='{one.document.word}.html'>{escape(one.document.title)}</a>",
            f"{sum(section.seconds for section in one.sections):.0f}",
            one.verdicts,
        )
        for one in found
    ]
    return _page("The source documents", _summary(("document", "seconds"), rows))


def _summary(heads: tuple[str, str], rows: Sequence[tuple[str, str, Counter[Verdict]]]) -> str:
    columns = "".join(f"<th class=n>{verdict.value}</th>" for verdict in Verdict)
    lines = "".join(_summary_row(*row) for row in rows)
    return (
        f"<div class=wide><table class=sums><tr><th>{heads[0]}</th><th class=n>entries</th>{columns}"
        f"<th class=n>{heads[1]}</th></tr>"
        f"{lines}</table></div>"
    )


def _summary_row(title: str, seconds: str, verdicts: Counter[Verdict]) -> str:
    numbers = "".join(f"<td class='n {one.value}'>{verdicts[one] or ''}</td>" for one in Verdict)
    return f"<tr><td>{title}</td><td class=n>{verdicts.total()}</td>{numbers}<td class=n>{seconds}</td></tr>"


def _page(title: str, body: str) -> str:
    opening = (
        "<!doctype html><html lang=en><meta charset=utf-8>"
        "<meta name=viewport content='width=device-width,initial-scale=1'><link rel=icon href='data:,'>"
        f"<title>{escape(title)}</title>"
    )
    return f"{opening}<style>{_STYLE}</style><h1>{escape(title)}</h1>{body}</html>\n"


def _html_section(number: int, section: Section) -> str:
    text = f"<h2 id=s{number}>{escape(section.title)}</h2><p>{_code(section.text)}</p>"
    command = f"<pre>{escape(section.command)}</pre><p class=time>{section.seconds:.1f} s here</p>"
    pictures = "".join(f"<figure>{one}</figure>" for one in section.figures)
    return f"<section>{text}{command}{_tables(section.entries)}<div class=figures>{pictures}</div></section>"


def _code(text: str) -> str:
    """Text with parts between backticks as code."""
    return re.sub(r"`([^`]*)`", r"<code>\1</code>", escape(text))


def _tables(entries: Sequence[Entry]) -> str:
    """All entries; of many, first those that differ, the others folded."""
    if len(entries) <= _LONG:
        return _table(entries)
    fine = [one for one in entries if one.verdict in (Verdict.AGREES, Verdict.BETTER)]
    others = [one for one in entries if one not in fine]
    folded = f"<details><summary>{len(fine)} that agree or are better</summary>{_table(fine)}</details>"
    return (_table(others) if others else "") + folded


def _table(entries: Sequence[Entry]) -> str:
    kinds = ("", " class=n", " class=n", "", "")
    heads = "".join(f"<th{kind}>{name}</th>" for name, kind in zip(_HEAD, kinds, strict=True))
    return f"<table class=entries><tr>{heads}</tr>{''.join(map(_html_row, entries))}</table>"


def _html_row(entry: Entry) -> str:
    name, printed, ours, verdict, reason = map(_code, _cells(entry))
    numbers = "".join(f"<td class='n{' short' if len(cell) < _SHORT else ''}'>{cell}</td>" for cell in (printed, ours))
    return f"<tr><td>{name}</td>{numbers}<td class={entry.verdict.value}>{verdict}</td><td class=why>{reason}</td></tr>"


#: On white and on black.
_COLORS = {
    Verdict.AGREES: ("#1a7f37", "#3fb950"),
    Verdict.BETTER: ("#0969da", "#58a6ff"),
    Verdict.EXPLAINED: ("#636c76", "#9aa3ae"),
    Verdict.UNEXPLAINED: ("#cf222e", "#ff7b72"),
}


def _verdicts(scheme: int) -> str:
    return "".join(f"td.{verdict.value}{{color:{colors[scheme]}}}" for verdict, colors in _COLORS.items())


#: On a phone every entry is a card: its numbers side by side, the reason below.
_PHONE = (
    "@media(max-width:40rem){body{margin:1rem auto;font-size:15px}h1{font-size:1.5rem}"
    "table.sums td,table.sums th{padding:.25rem .35rem;font-size:.8rem}"
    "table.sums th.n{writing-mode:vertical-rl;transform:rotate(180deg);text-align:left}"
    "table.entries,.entries tbody{display:block}.entries tr{display:grid;grid-template-columns:1fr 1fr auto;"
    "border-bottom:1px solid #8884;padding:.35rem 0}.entries td,.entries th{border:0;padding:.05rem .3rem;"
    "max-width:none;white-space:normal;overflow-wrap:anywhere;text-align:left}"
    ".entries td:first-child,.entries th:first-child,.entries td.why,.entries th:last-child{grid-column:1/-1}"
    ".entries td.why:empty,.entries th:last-child{display:none}"
    ".entries td:first-child{font-weight:600}}"
)
_STYLE = (
    "body{font:16px/1.5 system-ui,sans-serif;max-width:66rem;margin:2rem auto;padding:0 1rem;color:#1f2328}"
    "table{border-collapse:collapse;width:100%;font-size:.9rem}table.sums{margin:1rem 0 2rem}"
    "td,th{padding:.2rem .6rem;border-bottom:1px solid #d0d7de;text-align:left;vertical-align:top}"
    "td.short{white-space:nowrap}td.n,th.n{text-align:right;font-variant-numeric:tabular-nums}td.n{max-width:24rem}"
    "figure{flex:1 1 26rem;max-width:34rem;margin:1rem 0;background:#fff;border-radius:6px;padding:.4rem}"
    "figure svg{width:100%;height:auto}.figures{display:flex;flex-wrap:wrap;gap:1rem}"
    "pre,code{background:#f6f8fa;border-radius:4px}pre{padding:.6rem;white-space:pre-wrap}code{padding:.1rem .3rem}"
    ".wide{overflow-x:auto}.time{color:#636c76;font-size:.85rem}.sum{font-weight:600}"
    "summary{cursor:pointer;padding:.4rem 0;color:#1a7f37}a{color:#0969da}section{margin-top:2.5rem}"
    "@media(prefers-color-scheme:dark){body{background:#0d1117;color:#e6edf3}pre,code{background:#161b22}"
    "td,th{border-color:#30363d}a{color:#58a6ff}summary{color:#3fb950}.time{color:#9aa3ae}}"
    + _verdicts(0)
    + f"@media(prefers-color-scheme:dark){{{_verdicts(1)}}}{_PHONE}"
)
