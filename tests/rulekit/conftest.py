"""Rules registered by a test are gone after it."""

import pytest

from adcompiler.rulekit import REGISTRY, clear_new_rule_hooks


@pytest.fixture(autouse=True)
def registry_as_it_was():
    REGISTRY.load_all()
    before = len(REGISTRY.log)
    yield
    clear_new_rule_hooks()
    for rule in REGISTRY.log[before:]:
        REGISTRY.withdraw(rule)
