"""What is counted here is the compiler's own work, without the verifier's."""

import pytest


@pytest.fixture(autouse=True)
def without_the_verifier(monkeypatch):
    monkeypatch.delenv("ADCOMPILER_VERIFY", raising=False)
