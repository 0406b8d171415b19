"""Which rules the default run checks where checking all takes minutes."""

from __future__ import annotations

import os
import zlib
from collections.abc import Iterable
from typing import Any

from adcompiler.rulekit.testing import rule_name

OURS = ("adcompiler.", "adcompiler_rules.kernels.")
"""How names of functions begin that emitted code alone calls."""


def share(rules: Iterable[Any], every: int) -> list[Any]:
    """Return one in ``every`` rules, chosen by name; all with ``ADCOMPILER_ALL_RULES=1``."""
    if os.environ.get("ADCOMPILER_ALL_RULES"):
        return list(rules)
    return [rule for rule in rules if zlib.crc32(rule_name(rule).encode()) % every == 1]
