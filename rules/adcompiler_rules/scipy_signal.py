"""All rules for ``scipy.signal``: importing this module registers them."""

import adcompiler_rules.scipy.signal.convolutions
import adcompiler_rules.scipy.signal.filters
import adcompiler_rules.scipy.signal.adjoints
import adcompiler_rules.scipy.signal.smoothing
import adcompiler_rules.scipy.signal.spectra  # noqa: F401
from adcompiler_rules.scipy.facts import state_facts

state_facts("scipy.signal")
