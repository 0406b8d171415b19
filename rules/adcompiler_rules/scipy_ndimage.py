"""All rules for ``scipy.ndimage``: importing this module registers them."""

import adcompiler_rules.scipy_image_filters
import adcompiler_rules.scipy_ndimage_adjoints
import adcompiler_rules.scipy_splines  # noqa: F401
