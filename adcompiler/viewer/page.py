"""The page of a derivative: one HTML file that needs no other, and no network."""

from __future__ import annotations

import html
from collections.abc import Collection, Mapping
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from string import Template

from adcompiler.viewer.listed import Listed, Part
from adcompiler.viewer.saved import Saved
from adcompiler.viewer.sources import Block, Place
from adcompiler.viewer.words import Word, words

CLASSES = {"keyword": "k", "string": "s", "number": "n", "comment": "c", "defined": "d"}
HEIGHT = 640
"""Of the page in a notebook, in pixels, until it has been laid out."""
SIZES = ("bytes", "kB", "MB", "GB", "TB")


Shares = tuple[Mapping[Place, float], Mapping[int, float]]
"""What part of a run lines of the function take, and lines of the code."""


class View:
    """A page that shows a derivative beside the function; notebooks display it.

    ``html`` is its text, ``save(path)`` writes it to a file.
    """

    def __init__(self, listed: Listed, shares: Shares = ({}, {}), timeline: str = "") -> None:
        self.listed = listed
        self.html = Page(listed, shares, timeline).text()

    def __repr__(self) -> str:
        return f"<view of {self.listed.title}: {len(self.html)} characters of HTML>"

    def _repr_html_(self) -> str:
        """Show it in a notebook, in a frame of its own."""
        return (
            f'<iframe srcdoc="{html.escape(self.html)}" title="{html.escape(self.listed.title)}" '
            f'style="width: 100%; height: {HEIGHT}px; border: 0"></iframe>'
        )

    def save(self, path: str | Path) -> None:
        """Write the page to a file."""
        Path(path).write_text(self.html, encoding="utf-8")


class Page:
    """Writes the page of what was gathered."""

    def __init__(self, listed: Listed, shares: Shares, timeline: str) -> None:
        self.listed = listed
        self.of_source, self.of_emitted = shares
        self.timeline = timeline
        self.lines = listed.listing.text.splitlines()
        self.saved = {one.name for one in listed.saved or ()}
        self.numbers: dict[Place, int] = {}
        self.of_lines = {
            line: [self.number(place) for place in listed.places(line)]
            for line in listed.listing.origins if self.lines[line - 1].strip()
        }

    def number(self, place: Place) -> int:
        """Return the number of a statement of the source."""
        return self.numbers.setdefault(place, len(self.numbers))

    def text(self) -> str:
        """Return the page."""
        own = files("adcompiler.viewer")
        template = Template(own.joinpath("page.html").read_text(encoding="utf-8"))
        phases: dict[str, list[Part]] = {}
        for part in self.listed.parts():
            phases.setdefault(part.phase, []).append(part)
        return template.substitute(
            title=html.escape(self.listed.title), version=version("adcompiler"),
            css=own.joinpath("page.css").read_text(encoding="utf-8"),
            script=own.joinpath("page.js").read_text(encoding="utf-8"),
            facts=self.facts(), tables=self.tables(),
            source="\n".join(map(self.block, self.listed.blocks)),
            emitted="\n".join(
                f'<div class="phase">{"".join(map(self.part, parts))}</div>'
                for parts in phases.values()),
            layout="phases" if len(phases) > 1 else "",
        )

    # -- what is known of the whole ------------------------------------------------------------

    def facts(self) -> str:
        """Return the line of numbers at the top."""
        listed = self.listed
        kinks = len(listed.report["kinks"])
        found = [
            f"<b>{listed.operations}</b> operations in the code",
            f"<b>{len(listed.report['rules'])}</b> rules",
            f"<b>{kinks}</b> kink{'' if kinks == 1 else 's'}", html.escape(listed.backend),
        ]
        if listed.saved is not None:
            own = sum(one.size for one in listed.saved if not one.of)
            found.insert(0, f"<b>{size_text(own)}</b> saved for the sweep")
        return "".join(f"<span>{fact}</span>" for fact in found)

    def tables(self) -> str:
        """Return the cards between the head and the code."""
        cards = [card("Bytes held", self.timeline)] if self.timeline else []
        cards.append(self.arguments())
        if self.listed.saved is not None:
            cards.append(self.saved_values(self.listed.saved))
        cards.append(self.kinks())
        report = self.listed.report
        cards.append(card("Rules", listed_as([html.escape(", ".join(report["rules"]) or "none")])))
        if report["changed"]:
            cards.append(card(
                "Computed by another algorithm", listed_as(map(html.escape, report["changed"]))))
        return "\n".join(filter(None, cards))

    def arguments(self) -> str:
        """Return the table of arguments."""
        values: Mapping[str, Saved] = {one.name: one for one in self.listed.values}
        rows = []
        for name, type_ in self.listed.arguments:
            cells = [f"<td><code>{html.escape(name)}</code></td>",
                     f"<td><code>{html.escape(type_)}</code></td>"]
            if name in values:
                one = values[name]
                cells.append(f'<td>{html.escape(one.what)}</td><td class="size">'
                             f"{size_text(one.size)}</td>")
            rows.append(f"<tr>{''.join(cells)}</tr>")
        return card("Arguments", table(rows)) if rows else ""

    def saved_values(self, saved: list[Saved]) -> str:
        """Return the table of what is held for the sweep, the largest first."""
        if not saved:
            return card("Saved for the sweep", listed_as(["nothing"]))
        largest = max(max(one.size for one in saved), 1)
        rows = []
        for one in sorted(saved, key=lambda one: -one.size):
            what = f"{one.what}; {one.of}" if one.of else one.what
            rows.append(
                f'<tr data-name="{html.escape(one.name)}"{given(one)}>'
                f"<td><code>{html.escape(one.name)}</code></td><td>{html.escape(what)}</td>"
                f'<td class="bar"><i style="width: {100 * one.size / largest:.1f}%"></i></td>'
                f'<td class="size">{size_text(one.size)}</td></tr>'
            )
        return card("Saved for the sweep", table(rows))

    def kinks(self) -> str:
        """Return the list of kinks, each with the lines that it is on."""
        rows = []
        for text in self.listed.report["kinks"]:
            at = [place for place, kinks in self.listed.notes.kinks.items() if text in kinks]
            numbers = [str(self.numbers[place]) for place in at if place in self.numbers]
            links = f' data-l="{" ".join(numbers)}"' if numbers else ""
            where = ", ".join(f"line {line}" for _, line in sorted(at))
            rows.append(f"<li{links}>◆ {html.escape(text)}{' · ' + where if where else ''}</li>")
        return card("Kinks", f"<ul>{''.join(rows)}</ul>") if rows else ""

    # -- code ----------------------------------------------------------------------------------

    def block(self, block: Block) -> str:
        """Return a function of the user's."""
        listed = self.listed
        known = words("\n".join(listed.files.lines[block.file]))
        around: dict[str, set[str]] = {}
        for place, types in listed.notes.types.items():
            if block.holds(place):
                for name, them in types.items():
                    around.setdefault(name, set()).update(them)
        rows = []
        folded = listed.files.documentation[block.file]
        for line, text in enumerate(block.lines, block.first):
            if line in folded:
                if line - 1 not in folded:
                    rows.append('<div class="l" data-no="⋯"><code> </code></div>')
                continue
            place = listed.files.start((block.file, line))
            types = around | listed.notes.types.get(place, {})
            shown = code_line(text, known.get(line, []), types, set())
            number = self.numbers.get(place)
            kinks = sorted(listed.notes.kinks.get(place, ())) if place[1] == line else []
            if kinks:
                about = html.escape("; ".join(kinks))
                shown += f'<span class="kink" data-t="{about}">◆ kink</span>'
            share = self.of_source.get(place) if place[1] == line else None
            rows.append(row(line, "", [] if number is None else [number], shown, share))
        return code_card(block.title, "", rows)

    def part(self, part: Part) -> str:
        """Return a part of the emitted module."""
        listing = self.listed.listing
        known = words(listing.text)
        rows = []
        function = ""
        first, end = self.without_empty(part)
        for line in range(1, end):
            text = self.lines[line - 1]
            if text.startswith("def "):
                function = text[4:].partition("(")[0]
            if line < first:
                continue
            saved = self.saved if function in self.listed.holders else set()
            types = {name: set(them) for name, them in listing.types.get(function, {}).items()}
            numbers = self.of_lines.get(line, [])
            phase = ("r" if self.listed.is_reverse(line) else "f") if numbers else ""
            inside = known.get(line, [])
            held = {
                word.start for word in inside
                if text[word.start:word.end] in saved and self.is_held(line, word.start)
            }
            shown = code_line(text, inside, types, held)
            rows.append(row(line, phase, numbers, shown, self.of_emitted.get(line)))
        return code_card(part.title, part.phase, rows)

    def without_empty(self, part: Part) -> tuple[int, int]:
        """Return the first line of a part that is not empty, and the end of the last one."""
        full = [n for n in range(part.first, part.end) if self.lines[n - 1].strip()]
        return (full[0], full[-1] + 1) if full else (part.first, part.end)

    def is_held(self, line: int, column: int) -> bool:
        """Say whether the name of a saved value stands for that there, not for another value."""
        reads = self.listed.reads
        return reads is None or not self.listed.is_reverse(line) or (line, column) in reads


def code_line(
    text: str, known: list[Word], types: Mapping[str, set[str]], held: Collection[int]
) -> str:
    """Return a line of code, in colours, with the types of its names; ``held`` are columns."""
    found, at = [], 0
    for word in known:
        name = text[word.start:word.end]
        classes = [CLASSES[word.kind]] if word.kind in CLASSES else []
        about = ""
        if word.kind == "name":
            classes += ["v"] if word.start in held else []
            if types.get(name):
                about = f' data-t="{html.escape(f"{name}: {one_of(types[name])}")}"'
        shown = html.escape(name)
        if classes or about:
            chosen = f' class="{" ".join(classes)}"' if classes else ""
            shown = f"<span{chosen}{about}>{shown}</span>"
        found += [html.escape(text[at:word.start]), shown]
        at = word.end
    return f"<code>{''.join(found)}{html.escape(text[at:])}</code>"


def one_of(types: Collection[str]) -> str:
    """Return the types that a name may be of, those that are known first."""
    return " or ".join(sorted(types, key=lambda one: (one == "?", one)))


def given(one: Saved) -> str:
    """Return the class of a row about what takes no memory of its own."""
    return ' class="given"' if one.of else ""


def size_text(size: float) -> str:
    """Return a number of bytes in the unit that suits it."""
    unit = 0
    while size >= 1000 and unit < len(SIZES) - 1:
        size, unit = size / 1000, unit + 1
    shown = f"{size:.0f}" if unit == 0 else f"{size:.3g}"
    return f"{shown} {'byte' if shown == '1' and not unit else SIZES[unit]}"


def row(
    line: int, phase: str, numbers: Collection[int], shown: str, share: float | None
) -> str:
    """Return a line of code with its number, the statements that it belongs to, and its share."""
    if share is not None and share >= 0.005:
        part = f"{100 * share:.0f}"
        shown += f'<span class="share" style="--share: {part}%">{part} %</span>'
    links = f' data-l="{" ".join(map(str, numbers))}"' if numbers else ""
    return f'<div class="l{" " + phase if phase else ""}" data-no="{line}"{links}>{shown}</div>'


def code_card(title: str, phase: str, rows: list[str]) -> str:
    """Return a card with lines of code."""
    return (
        f'<section class="card code {phase}"><h2>{html.escape(title)}</h2>'
        f'<div class="lines">{"".join(rows)}</div></section>'
    )


def card(title: str, inside: str) -> str:
    """Return a card of the tables."""
    return f'<section class="card"><h2>{html.escape(title)}</h2>{inside}</section>'


def table(rows: list[str]) -> str:
    """Return a table, which scrolls if it is too wide."""
    return f'<div class="scroll"><table>{"".join(rows)}</table></div>'


def listed_as(items: object) -> str:
    """Return a list of texts."""
    assert isinstance(items, list | map)
    return f"<ul>{''.join(f'<li>{item}</li>' for item in items)}</ul>"


__all__ = ["Page", "View"]
