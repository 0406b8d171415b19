"""Random ``try`` statements, whose bodies may raise after they have written."""

from __future__ import annotations

from tests.properties.procedures import Procedures
from tests.properties.values import FLOAT, Context, Env

KINDS = ("(KeyError, IndexError, ZeroDivisionError)", "(LookupError, ZeroDivisionError)")


class Attempts(Procedures):
    """Writes statements that catch what they raise."""

    def attempt(self, env: Env, context: Context, depth: int) -> tuple[list[str], bool]:
        """Write a ``try`` or a ``with suppress``; handlers see what the body has left."""
        inside = Context(context.in_loop, context.returns, True, context.fixed)
        inner = dict(env)
        body, falls = self.block(inner, 3, inside, depth - 1)
        while falls and len(body) < 12:
            body += self.raising(inner, inside)
            more, falls = self.block(inner, 2, inside, depth - 1)
            body += more
            if self.chance(0.6):
                break
        before = {name: type_ for name, type_ in env.items() if inner.get(name) == type_}
        ends = [inner] if falls else []
        if self.chance(0.2):
            rows = ["with contextlib.suppress(KeyError, IndexError, ZeroDivisionError):"]
            rows += indented(body)
            ends.append(before)
        else:
            rows = ["try:", *indented(body)]
            handled = dict(before)
            rows.append(f"except {self.pick(KINDS)}:")
            handler, passes = self.block(handled, 2, inside, depth - 1)
            rows += indented(handler)
            if passes:
                ends.append(handled)
            if falls and self.chance(0.2):
                more, falls = self.block(inner, 2, inside, depth - 1)
                rows += ["else:", *indented(more)]
                if not falls:
                    ends.remove(inner)
        merged = self.merged(ends)
        env.clear()
        env.update(merged)
        return rows, bool(ends)

    def raising(self, env: Env, context: Context) -> list[str]:
        """Write what raises if a condition holds."""
        condition = self.condition(env)
        name = self.target(env, FLOAT, context)
        number = self.bounded(FLOAT, self.number(env, 1))
        env[name] = FLOAT
        return list(self.pick([
            [f"{name} = {number}", f"if {condition}:", "    raise KeyError('left')"],
            [f"{name} = {number}", f"if {condition}:", "    raise IndexError"],
            [f"{name} = float({number}) / (0.0 if {condition} else 2.0)"],
            [f"{name} = [{number}, 0.5][5 if {condition} else 0]"],
        ]))

    @staticmethod
    def merged(ends: list[Env]) -> Env:
        """Return the variables that have one type at all of several ends."""
        if not ends:
            return {}
        return {n: t for n, t in ends[0].items() if all(e.get(n) == t for e in ends)}


def indented(rows: list[str]) -> list[str]:
    """Return rows one level deeper."""
    return ["    " + row for row in rows]
