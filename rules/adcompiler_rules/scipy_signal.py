"""All rules for ``scipy.signal``: importing this module registers them."""

import adcompiler_rules.scipy_convolutions
import adcompiler_rules.scipy_filters
import adcompiler_rules.scipy_signal_adjoints
import adcompiler_rules.scipy_smoothing
import adcompiler_rules.scipy_spectra  # noqa: F401
from adcompiler_rules.scipy_facts import state_facts

state_facts("scipy.signal")
