"""``docs/functions.md`` lists every library callable that differentiates, as the registry has it.

To write it anew: ``python -m tests.docs.test_functions``.
"""

from __future__ import annotations

import pydoc
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterable
from typing import Any

from adcompiler.ops.qualified_names import display_name, public_place
from adcompiler.rulekit import REGISTRY, Rule
from adcompiler.rulekit.samples import rule_name
from tests.docs.test_code_blocks import ROOT
from tests.rules.refused import FORWARD, TWICE, UNTRIED

PAGE = ROOT / "docs" / "functions.md"
HEAD = """# Functions with rules

Python code is differentiated from its source. These are the library functions, methods and
attributes that cannot be, or should not be, and that have a [rule](rules.md) instead. Others
differentiate too: those that libraries ship as Python code that the compiler reads (`np.polyfit`,
`scipy.integrate.trapezoid`, [and so on](real-code.md)), and those that take functions
([solvers, integrals, minima](implicit.md)).

- *reverse*: `grad`, `value_and_grad`, `vjp`. Compared with finite differences by
  `tests/rules/test_every_rule.py`.
- *forward*: `jvp`. Compared with reverse mode by `tests/forward/test_rules.py` (a part of the rules
  in each run, all with `ADCOMPILER_ALL_FORWARD=1`).
- *second order*: the gradient of a gradient. Compared with finite differences by
  `tests/rules/test_second_order.py` (one in twelve of the rules in each run, all with
  `ADCOMPILER_ALL_RULES=1`); `?` where there is no sample with real arguments to do so.
- *facts*: [what else is known](rules.md#what-a-function-does-besides-facts) of the function: what
  storage its result shares, what it writes into, how sparsity patterns pass through it (the word in
  quotes), what it means to the compiler, whether its Taylor series have a recurrence, the shape,
  order and sign of its result, parameters with their values (`order='C'`) if nothing is given,
  which function is compiled in its place. Compared with what it does by `tests/ops`.

Where a column has `-`, the derivative is refused before anything runs, and those tests check that
it is. A function may have a rule for some of its arguments, or for some of its options:
`adcompiler rules numpy.sin` tells which. This page is written by
`python -m tests.docs.test_functions`.
"""
OTHERS = """## Functions without rules

Nothing is differentiated through these, or their Python code is; of their calls this is known."""
ROOTS = ("numpy", "scipy")


Table = dict[str, dict[str, Any]]


def listed() -> Table:
    """Return the entries of the columns by module and name."""
    return {
        module: {name: columns(REGISTRY.rules_of(f)) for name, f in functions.items()}
        for module, functions in functions_by_module().items()
    }


def functions_by_module() -> Table:
    """Return the functions that have rules by module and name."""
    found: Table = defaultdict(dict)
    functions = {rule.function for rule in REGISTRY.rules()}
    functions |= {other for other, target in REGISTRY.aliases() if REGISTRY.has_rules(target)}
    for function in functions:
        name = public_name(function)
        if name.startswith(("adcompiler.", "adcompiler_rules.")):
            continue
        module, short = split(name)
        found[module][short] = function
    return found


def facts_of(function: Any) -> str:
    """Return what else is known of a function, in a few words."""
    known = REGISTRY.facts(function)
    said = [] if known.is_pure else ["has effects"]
    shared = sorted({f"shares: {shares.how}" for shares in known.sharing})
    said += ["own storage"] if known.owns_result else shared
    said += [f"`{known.output[0]}=` takes the result"] if known.output else []
    said += [f"writes into `{name}`" for name in known.writes or ()]
    said += [f"along `{known.along[0]}`, {known.along[2]}"] if known.along else []
    said += [f"linear in `{names}`" for names in known.linear_in or ()]
    said += [f"`{name}={value!r}`" for name, value in known.defaults or ()]
    said += [f"is `{called(known.written_as)}`"] if known.written_as else []
    for name, words in WORDS.items():
        value = getattr(known, name)
        if value not in (None, False):
            several = isinstance(value, tuple) and name != "recurrence"
            said.append(words.format(" and ".join(value) if several else value))
    return ", ".join(said)


def called(function: Any) -> str:
    """Return the name of a function that is compiled in the place of another one."""
    return str(getattr(function, "__name__", function))


WORDS = {
    "means": "means {}", "elementwise": "elementwise", "transfer": '"{}"',
    "sized": "sized by values", "axes": "one more axis: {}", "recurrence": "series",
    "parts": "parts", "changes": "changes its {}", "shape": "shape: {}", "order": "order: {}",
    "sign": "sign: {}", "typed_as": "typed by another function", "iterates": "iterates",
    "exhausts": "exhausts", "passes_on": "lets exceptions pass", "form": "form: {}",
    "total": "total for {}", "classes": "typed by classes", "rounded": "rounded",
    "of_form": "reads form alone", "read_only": "read-only", "updates": "updates its first",
    "fresh": "fresh", "unwraps": "unwraps", "finite": "finite slopes",
    "bounded": "finite values",
}
"""What is said of facts that are a word, or true."""


def others() -> dict[str, dict[str, list[str]]]:
    """Return the functions without rules by what is known of them, by module."""
    found: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for function, _ in REGISTRY.all_facts():
        place = public_place(function)
        if place is None or REGISTRY.has_rules(function) or place[0].startswith("adcompiler"):
            continue
        root, _, rest = ".".join(place).partition(".")
        if root.startswith("_"):  # as `_functools` of `functools`
            root = root.lstrip("_")
        if root in ("builtins", *ROOTS, *sys.stdlib_module_names):
            found[root][facts_of(function)].append(rest if root == "builtins" else f"{root}.{rest}")
    return found


def public_name(function: Any) -> str:
    """Return the name of a function without the private modules that it is defined in."""
    *modules, last = display_name(function).split(".")
    kept = [part for part in modules if not part.startswith("_") or part[1:2].isupper()]
    return ".".join([*kept, last])


def split(name: str) -> tuple[str, str]:
    """Return the module that a name is listed under, and the rest of it."""
    parts = name.split(".")
    if parts[0] not in ("numpy", "scipy", "math", "cmath", "operator", "statistics"):
        return "builtins", name
    submodule = parts[0] == "scipy" or parts[1] in ("linalg", "fft")
    count = 2 if submodule else 1
    if parts[:3] == ["scipy", "sparse", "linalg"]:
        count = 3
    return ".".join(parts[:count]), ".".join(parts[count:])


def columns(rules: Iterable[Rule]) -> tuple[str, str, str]:
    """Return how the rules of one function go backwards, forwards, and twice."""
    rules = list(rules)
    names = {rule_name(rule) for rule in rules}
    twice = "yes" if names - TWICE - UNTRIED else "-" if names & TWICE else "?"
    reverse = any(rule.reverses for rule in rules)
    return "yes" if reverse else "-", "yes" if names - FORWARD else "-", twice


def page() -> str:
    """Return the text of the page."""
    found, functions = listed(), functions_by_module()
    order = sorted(found, key=lambda module: (module.split(".")[0] not in ROOTS, module))
    rows = [(module, *counts(found[module].values())) for module in order]
    inside = [c for m in order if m.split(".")[0] in ROOTS for c in found[m].values()]
    everything = [c for m in order for c in found[m].values()]
    lines = [HEAD, "| module | reverse | forward | second order |", "|---|---|---|---|"]
    lines += [f"| [{m}](#{anchor(m)}) | {a} | {b} | {c} |" for m, a, b, c in rows]
    lines += [f"| {title} | {' | '.join(map(str, counts(of)))} |" for title, of in (
        ("**NumPy and SciPy**", inside), ("**all**", everything))]
    for module in order:
        lines += ["", f"## {module}", "", "| function | reverse | forward | second order | facts |",
                  "|---|---|---|---|---|"]
        for name in sorted(found[module], key=lambda name: (name.lower(), name)):
            said = (*found[module][name], facts_of(functions[module][name]))
            lines.append(f"| `{name}` | {' | '.join(said)} |")
    lines += ["", *OTHERS.splitlines()]
    for module, known in sorted(others().items()):
        lines += ["", f"### Others of {module}", "", "| facts | functions |", "|---|---|"]
        lines += [
            f"| {said} | {' '.join(f'`{name}`' for name in sorted(set(names)))} |"
            for said, names in sorted(known.items())
        ]
    return "\n".join(lines) + "\n"


def counts(entries: Iterable[tuple[str, str, str]]) -> tuple[int, ...]:
    """Return how many entries of each column are ``yes``."""
    return tuple(sum(entry == "yes" for entry in column) for column in zip(*entries, strict=True))


def anchor(module: str) -> str:
    """Return what the heading of a module is linked by."""
    return module.replace(".", "")


def rows_of(text: str) -> set[tuple[str, str]]:
    """Return the rows of functions of the page, each with its module.

    Facts are left out where other versions of libraries may have others.
    """
    module, found = "", set()
    for line in text.splitlines():
        if line.startswith("## "):
            module = line[3:]
        elif line.startswith("| `"):
            whole = sys.version_info < (3, 12)
            found.add((module, line if whole else line.rsplit(" | ", 1)[0]))
    return found


def is_here(module: str, row: str) -> bool:
    """Say whether the installed versions have the function of a row."""
    name = row.split("`")[1]
    return pydoc.locate(name if module == "builtins" else f"{module}.{name}") is not None


def test_page_is_what_the_registry_has() -> None:
    # in a process of its own: other tests register rules for functions that are theirs
    code = "from tests.docs.test_functions import page; print(page(), end='')"
    shown = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT
    )
    kept, made = rows_of(PAGE.read_text(encoding="utf-8")), rows_of(shown.stdout)
    again = "run python -m tests.docs.test_functions"
    assert len(kept) > 900
    assert made - kept == set() or sys.version_info >= (3, 12), again  # where there are more
    assert {row for row in kept - made if is_here(*row)} == set(), again
    if sys.version_info < (3, 12):
        kept_others = PAGE.read_text(encoding="utf-8").partition(OTHERS)[2]
        assert kept_others == shown.stdout.partition(OTHERS)[2] != "", again


def test_page_has_the_functions_of_numpy_and_scipy() -> None:
    found = listed()
    assert found["numpy"]["sin"] == ("yes", "yes", "yes")
    assert sum(len(of) for m, of in found.items() if m.split(".")[0] in ROOTS) >= 450


def test_every_refusal_is_of_a_rule() -> None:
    names = {rule_name(rule) for rule in REGISTRY.rules()}
    assert names >= FORWARD | TWICE | UNTRIED


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
