"""All rules for ``scipy.ndimage``: importing this module registers them."""

import adcompiler_rules.scipy.ndimage.filters
import adcompiler_rules.scipy.ndimage.adjoints
import adcompiler_rules.scipy.ndimage.splines  # noqa: F401
from adcompiler_rules.scipy.facts import state_facts, state_outputs

state_facts("scipy.ndimage")
state_outputs("scipy.ndimage")
