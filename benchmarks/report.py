"""What the suite says: lines while it runs, ratios, means by class, the worst, a page, a plot."""

from __future__ import annotations

import importlib.metadata
import json
import math
import platform
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from benchmarks.program import CLASSES

PAIRS = (
    ("native against JAX", "native", "JAX"), ("Python against JAX", "python", "JAX"),
    ("the better against JAX", "best", "JAX"), ("Python against autograd", "python", "autograd"),
    ("native against numba by hand", "native", "numba by hand"),
    ("native against C++ by hand", "native", "C++ by hand"),
    ("Python against NumPy by hand", "python", "NumPy by hand"),
    ("Python against the program", "python", "primal"),
    ("native against the program", "native", "primal"),
    ("Python against asdex", "python", "asdex"), ("Python against CasADi", "python", "CasADi"),
)
"""The ratios that are reported: how many times as fast the first is as the second."""


def machine() -> dict[str, Any]:
    """Return what the suite ran on."""
    models = [line.partition(":")[2].strip() for line in lines_of("/proc/cpuinfo")
              if line.startswith("model name")]
    versions = {}
    for name in ("numpy", "scipy", "llvmlite", "numba", "jax", "autograd", "torch", "asdex",
                 "casadi"):
        try:
            versions[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return {"cpu": models[0] if models else platform.processor(), "cores": len(models),
            "system": platform.system(), "python": platform.python_version(), "versions": versions}


def lines_of(path: str) -> list[str]:
    """Return the lines of a file, none if there is no such file."""
    try:
        return Path(path).read_text().splitlines()
    except OSError:
        return []


def readable(seconds: float) -> str:
    """Return a time with three digits and a unit."""
    for unit, scale in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if seconds >= scale:
            return f"{seconds / scale:.3g} {unit}"
    return f"{seconds / 1e-9:.3g} ns"


def line(row: dict[str, Any]) -> str:
    """Return the times of one program at one size, ours and then others' in these."""
    seconds = row["seconds"]
    mine = best(seconds)
    texts = [f"{name} {readable(taken)}" if name in ("python", "native")
             else f"{name} {taken / mine:.2g}x" for name, taken in seconds.items()]
    return f"{row['program']}, {row['size']}: {', '.join(texts)}"


def best(seconds: dict[str, float]) -> float:
    """Return the time of the better of our backends."""
    return min(seconds[name] for name in ("python", "native") if name in seconds)


def ratio(row: dict[str, Any], ours: str, other: str) -> float | None:
    """Return how many times as long the other took; None where one was not measured."""
    seconds = row["seconds"] | {"best": best(row["seconds"])}
    return seconds[other] / seconds[ours] if ours in seconds and other in seconds else None


def ratios(rows: Iterable[dict[str, Any]], ours: str, other: str) -> list[float]:
    """Return the ratios of all rows that have one."""
    return [found for row in rows if (found := ratio(row, ours, other)) is not None]


def mean(values: Sequence[float]) -> float:
    """Return the geometric mean."""
    return math.exp(sum(map(math.log, values)) / len(values))


def summary(results: list[dict[str, Any]]) -> Iterator[tuple[str, ...]]:
    """Yield class, comparison, geometric mean, the least ratio and where that is, and how many."""
    for family, title in CLASSES.items():
        rows = [row for row in results if row["class"] == family]
        for name, ours, other in PAIRS:
            found = [(value, row) for row in rows
                     if (value := ratio(row, ours, other)) is not None]
            if found:
                least, row = min(found, key=lambda pair: pair[0])
                yield (title, name, f"{mean([value for value, _ in found]):.2f}", f"{least:.2f}",
                       f"{row['program']}, {row['size']}", str(len(found)))


def worst(results: list[dict[str, Any]], count: int = 10) -> list[tuple[str, ...]]:
    """Return where the better of our backends is furthest behind any other engine."""
    found = []
    for row in results:
        for name in row["seconds"]:
            if name not in ("python", "native", "primal"):
                value = ratio(row, "best", name)
                if value is not None:
                    found.append((value, row["program"], str(row["size"]), name))
    return [(f"{value:.2f}", *rest) for value, *rest in sorted(found)[:count]]


def together(paths: Sequence[str]) -> dict[str, Any]:
    """Return the results in several files of JSON, of one machine, as those of one run.

    Of a program that stands in several of them at one size, the first counts.
    """
    first, *rest = [json.loads(Path(path).read_text()) for path in paths]
    rows = {(row["program"], row["size"]): row for row in first["results"]}
    for data in rest:
        for row in data["results"]:
            known = rows.setdefault((row["program"], row["size"]), row)
            known |= {key: value for key, value in row.items() if key not in known}
        first["results"] = list(rows.values())
        first["others"] |= data["others"]
        first["command"] += f"` and `{data['command']}"
    return dict(first)


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table in Markdown, aligned."""
    cells = [tuple(head), *(tuple(row) for row in rows)]
    widths = [max(len(row[i]) for row in cells) for i in range(len(head))]
    lines = ["| " + " | ".join(f"{c:{w}}" for c, w in zip(row, widths, strict=True)) + " |"
             for row in cells]
    return "\n".join([lines[0], "|" + "|".join("-" * (w + 2) for w in widths) + "|", *lines[1:]])


def text(data: dict[str, Any]) -> str:
    """Return the summary: means by class, the ten worst, first calls, other tables."""
    return "\n\n".join(part for _, part in parts(data))


def parts(data: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the tables of the summary, each with what stands above it."""
    results = data["results"]
    if results:
        yield "How many times as fast, by class", table(
            ("class", "what", "geometric mean", "least", "of", "measured"), summary(results))
        yield "Where the better of our backends is furthest behind", table(
            ("ratio", "program", "size", "engine"), worst(results))
    fresh = list(first_calls(results))
    if fresh:
        yield "First calls in a new process, and those of code that is in the cache", table(
            ("engine", "import", "first call", "from the cache", "programs"), fresh)
    for name, found in data["others"].items():
        yield name, table(("case", "figures"), [
            (case, ", ".join(f"{who} {figure(case, who, value)}" for who, value in row.items()))
            for case, row in found.items()])


def figure(case: str, who: str, value: float) -> str:
    """Return a figure of another table: seconds, bytes, a power or a count."""
    if case.endswith("bytes"):
        return f"{value / 1e6:.2f} MB"
    if "power" in case or "power" in who or who == "programs":
        return f"{value:.3g}"
    return readable(value)


def first_calls(results: list[dict[str, Any]]) -> Iterator[tuple[str, ...]]:
    """Yield medians over programs: the import, the first call, the one from the cache."""
    kept = [row["fresh"] for row in results if "fresh" in row]
    for name in dict.fromkeys(name for row in kept for name in row):
        rows = [row[name] for row in kept if row.get(name)]
        if rows:
            columns = [sorted(row[kind][what] for row in rows) for kind, what in (
                ("cached", "import"), ("cold", "first"), ("cached", "first"))]
            yield (name, *(readable(c[len(c) // 2]) for c in columns), str(len(rows)))


def conclusions(results: list[dict[str, Any]]) -> Iterator[str]:
    """Yield what the numbers say in sentences: beside JAX, beside code by hand, where we lose."""
    def against(families: Sequence[str], other: str) -> str:
        found = [(value, row) for row in results if row["class"] in families
                 and (value := ratio(row, "best", other)) is not None]
        if not found:
            return "not measured"
        least, row = min(found, key=lambda pair: pair[0])
        return (f"{mean([value for value, _ in found]):.1f} times as fast (least: {least:.2g}, of "
                f"`{row['program']}` at size {row['size']})")

    yield (
        "Beside compiled JAX the better of our backends is, as a geometric mean, "
        f"{against(('scalars', 'loops'), 'JAX')} in scalar formulas and loops over elements, "
        f"{against(('stencils',), 'JAX')} in stencils and time steppers, "
        f"{against(('arrays',), 'JAX')} in programs of whole arrays, "
        f"{against(('matrices',), 'JAX')} in dense Jacobians and Hessians."
    )
    every = tuple(CLASSES)
    yield (
        f"Beside adjoints by hand in NumPy it is {against(every, 'NumPy by hand')}, beside loops "
        f"by hand that numba compiles {against(every, 'numba by hand')}, beside C++ by hand "
        f"{against(every, 'C++ by hand')}; sparse derivatives are "
        f"{against(('sparse',), 'asdex')} beside asdex, {against(('sparse',), 'CasADi')} beside "
        "CasADi."
    )
    behind = worst(results, 3)
    yield "It is furthest behind in " + ", ".join(
        f"`{program}` at size {size} ({value} of {engine})" for value, program, size, engine
        in behind) + "."


def write_page(data: dict[str, Any], path: str) -> None:
    """Write the page of results."""
    made = data["machine"]
    versions = ", ".join(f"{name} {version}" for name, version in made["versions"].items())
    page = [
        "# Performance",
        *conclusions(data["results"]),
        "![times of gradients, a row for each program](_static/speed.svg)",
        f"This page is written by `{data['command']}`, with `--markdown docs/performance.md`.",
        f"Measured on one core of {made['cpu']} ({made['cores']} cores, {made['system']}), Python "
        f"{made['python']}, {versions}.",
        "All engines run in turns in one process, on one thread; the least of many turns counts. "
        "Results are compared before they are timed, gradients with differences too. JAX runs "
        "compiled, in 64-bit numbers, on its own arrays, with its own loops where these are what "
        "someone would write. The machine did nothing else at the same time; ratios near 1 are "
        "ties. A ratio is the other engine's time divided by ours: above 1, ours is faster.",
    ]
    for title, part in parts(data):
        page.append(f"## {title[0].upper()}{title[1:]}\n\n{part}")
    for family, title in CLASSES.items():
        rows = [row for row in data["results"] if row["class"] == family]
        if rows:
            page.append(f"## {title[0].upper()}{title[1:]}\n\n{program_table(rows)}")
    Path(path).write_text("\n\n".join(page) + "\n")


def program_table(rows: list[dict[str, Any]]) -> str:
    """Return the times of programs: ours, and ratios of others to the better of ours."""
    others = [name for name in dict.fromkeys(n for row in rows for n in row["seconds"])
              if name not in ("python", "native")]
    found = []
    for row in rows:
        seconds, used = row["seconds"], row["bytes"]
        cells = [f"`{row['program']}`", str(row["size"])]
        cells += [readable(seconds[n]) if n in seconds else "" for n in ("python", "native")]
        cells += [f"{seconds[n] / best(seconds):.2g}x" if n in seconds else "" for n in others]
        cells += [f"{used[n] / 1e6:.1f}" if used.get(n) is not None else "" for n in
                  ("python", "native")]
        found.append(cells)
    return table(("program", "size", "Python", "native", *others, "MB Python", "MB native"), found)


def plot(data: dict[str, Any], path: str) -> None:
    """Draw the ratios to JAX and to adjoints by hand, a row for each class."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(8, 5), layout="constrained")
    others = ("JAX", "autograd", "NumPy by hand", "numba by hand", "C++ by hand", "asdex",
              "CasADi")
    for i, (family, title) in enumerate(CLASSES.items()):
        rows = [row for row in data["results"] if row["class"] == family]
        for j, other in enumerate(others):
            values = ratios(rows, "best", other)
            axes.plot(values, [i + 0.12 * (j - 3.0)] * len(values), ".", color=f"C{j}",
                      label=other if i == 0 else None)
        axes.text(0.0, i + 0.42, title, transform=axes.get_yaxis_transform())
    axes.axvline(1.0, color="black", linewidth=0.5)
    axes.set(xscale="log", yticks=[], xlabel="time divided by the better of ours")
    axes.legend()
    figure.savefig(path)
    pyplot.close(figure)


MARKS = {
    "best": ("adcompiler", "o", "#1f6feb"), "JAX": ("JAX, compiled", "s", "#c2571a"),
    "PyTorch": ("PyTorch", "D", "#b0185f"), "autograd": ("autograd", "^", "#8a3ffc"),
    "NumPy by hand": ("by hand, NumPy", "|", "#1f2328"),
    "numba by hand": ("by hand, numba", "x", "#1f2328"),
    "C++ by hand": ("by hand, C++", "+", "#1f2328"), "primal": ("the function", ".", "#8b949e"),
}
"""What a chart shows: the name of each engine, its mark and its color."""


def chart(data: dict[str, Any], path: str) -> None:
    """Draw the time of each gradient, ours and others', a row for each program."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    rows = data["results"]
    with pyplot.rc_context({"svg.hashsalt": "chart", "svg.fonttype": "none", "font.size": 9}):
        figure, axes = pyplot.subplots(figsize=(8.6, 0.42 * len(rows) + 1.3), layout="constrained")
        for name, (label, mark, color) in MARKS.items():
            points = [
                (row["seconds"] | {"best": best(row["seconds"])}).get(name) for row in rows]
            there = [(taken, -i) for i, taken in enumerate(points) if taken is not None]
            if there:
                axes.plot(*zip(*there, strict=True), mark, color=color, label=label,
                          markersize=8 if name == "best" else 6, zorder=3 if name == "best" else 2)
        axes.set(xscale="log", xlabel="time of one gradient")
        axes.set_yticks([-i for i in range(len(rows))],
                        [f"{row['program'].replace('_', ' ')}, {row['size']}" for row in rows])
        axes.xaxis.set_major_formatter(lambda seconds, _: readable(seconds))
        axes.grid(axis="x", linewidth=0.4)
        axes.grid(axis="y", linewidth=0.4, linestyle=":")
        axes.spines[["top", "right", "left"]].set_visible(False)
        figure.legend(loc="outside upper center", ncols=4, frameon=False)
        figure.savefig(path, metadata={"Date": None})
        pyplot.close(figure)
