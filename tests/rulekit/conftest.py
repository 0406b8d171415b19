"""Rules registered by a test are gone after it."""

import pytest

from adcompiler.rulekit import REGISTRY, clear_new_rule_hooks


@pytest.fixture(autouse=True)
def registry_as_it_was():
    before = len(REGISTRY.log)
    yield
    clear_new_rule_hooks()
    for rule in REGISTRY.log[before:]:
        if str(getattr(rule.function, "__module__", "")).startswith("tests."):
            REGISTRY.remove(rule.function)
