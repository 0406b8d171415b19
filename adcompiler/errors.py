"""The error tree: every refusal says where, what was met, why, and what to write instead."""

from __future__ import annotations

from dataclasses import dataclass

LIMITATIONS = "docs/limitations.md"


@dataclass(frozen=True, slots=True)
class Finding:
    """One place in the user's source that cannot be differentiated.

    ``line`` and ``column`` are 1-based and 0-based, as Python reports them; ``text`` is the
    source line as written. ``anchor`` names the section of ``docs/limitations.md``.
    """

    file: str
    line: int
    column: int
    text: str
    problem: str
    hint: str = ""
    anchor: str = ""
    width: int = 1

    def render(self) -> str:
        """Return the finding as compiler-style text: location, line, caret, reason, rewrite."""
        stripped = self.text.lstrip()
        caret = max(self.column - (len(self.text) - len(stripped)), 0)
        width = max(1, min(self.width, len(stripped) - caret))
        rows = [f"{self.file}:{self.line}:{self.column + 1}: {self.problem}"]
        if stripped:
            rows += [f"    {stripped}", "    " + " " * caret + "^" * width]
        if self.hint:
            rows.append(f"  write instead: {self.hint}")
        if self.anchor:
            rows.append(f"  see {LIMITATIONS}#{self.anchor}")
        return "\n".join(rows)


class ADError(Exception):
    """Base of everything adcompiler refuses."""


class LocatedError(ADError):
    """A refusal that points at places in the user's source, all of them at once."""

    def __init__(self, findings: tuple[Finding, ...] | list[Finding]) -> None:
        self.findings = tuple(findings)
        super().__init__("\n".join(finding.render() for finding in self.findings))


class UnsupportedError(LocatedError):
    """The function uses forms that adcompiler cannot differentiate (yet)."""


class MissingRuleError(LocatedError):
    """A differentiable value reaches a function that has neither a rule nor readable source."""


class SourceNotFoundError(ADError):
    """A function's source text is not available, so it cannot be compiled."""


class InternalError(ADError):
    """A broken invariant inside adcompiler: a bug to report, never the user's fault."""
