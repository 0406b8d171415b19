"""All rules for ``scipy.ndimage``: importing this module registers them."""

import adcompiler_rules.scipy_image_filters
import adcompiler_rules.scipy_ndimage_adjoints
import adcompiler_rules.scipy_splines  # noqa: F401
from adcompiler_rules.scipy_facts import state_facts, state_outputs

state_facts("scipy.ndimage")
state_outputs("scipy.ndimage")
