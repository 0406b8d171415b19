"""Which functions of which packages are tried: a sample of public names, drawn by a seed.

``python -m tests.record.packages.sampling`` prints, for each module or class, its public functions
in the order drawn. The cases are written in this order. A function is passed over only if it takes
or returns no floats, draws at random, plots, reads files, computes by differences itself, is
constant between jumps, works for no arguments, or is another name of one before. The packages are
of Python, with floats and NumPy's arrays for numbers, and none of them is tried in ``tests/real``.
"""

from __future__ import annotations

import importlib
import inspect
import random
from typing import Any

SEED = 20_32
SOURCES: dict[str, tuple[tuple[str, int], ...]] = {
    "pint": (("pint:Quantity", 9), ("pint:UnitRegistry", 1)),
    "unyt": (("unyt:unyt_array", 6), ("unyt", 3)),
    "uncertainties": (("uncertainties.umath", 7), ("uncertainties", 1)),
    "tensorly": (("tensorly.tenalg", 5), ("tensorly.cp_tensor", 3), ("tensorly.metrics", 2)),
    "autoray": (("autoray", 3),),
    "einops": (("einops", 5),),
    "opt_einsum": (("opt_einsum", 2),),
    "sympy": (("sympy.functions", 10),),
    "pykalman": (("pykalman:KalmanFilter", 5), ("pykalman.sqrt:CholeskyKalmanFilter", 2)),
    "antropy": (("antropy", 7),),
    "thermo": (("thermo.eos:PR", 6), ("thermo.activity", 2), ("thermo.wilson:Wilson", 3),
               ("thermo.nrtl:NRTL", 3)),
    "coloraide": (("coloraide:Color", 9),),
    "pyhf": (("pyhf.pdf:Model", 3), ("pyhf.probability:Normal", 1), ("pyhf.infer.mle", 1)),
    "pymanopt": (("pymanopt.manifolds:Sphere", 4), ("pymanopt.manifolds:Grassmann", 3),
                 ("pymanopt.manifolds:SymmetricPositiveDefinite", 3)),
    "POT": (("ot.utils", 4), ("ot.gaussian", 3), ("ot.bregman", 3), ("ot", 2)),
    "galpy": (("galpy.util.coords", 6), ("galpy.potential:MiyamotoNagaiPotential", 5)),
    "colossus": (("colossus.cosmology.cosmology:Cosmology", 7),
                 ("colossus.halo.profile_nfw:NFWProfile", 4)),
    "sgp4": (("sgp4.functions", 1), ("sgp4.propagation", 2), ("sgp4.model:Satrec", 1)),
    "skyfield": (("skyfield.functions", 5), ("skyfield.toposlib:GeographicPosition", 1),
                 ("skyfield.precessionlib", 1), ("skyfield.earthlib", 4)),
    "vector": (("vector:VectorObject3D", 7), ("vector:VectorObject4D", 4)),
    "scikit-spatial": (("skspatial.objects:Vector", 5), ("skspatial.objects:Plane", 3),
                       ("skspatial.objects:Line", 3), ("skspatial.objects:Sphere", 2)),
    "pyrr": (("pyrr.quaternion", 5), ("pyrr.matrix44", 4), ("pyrr.vector", 3)),
    "pylops": (("pylops", 7),),
    "lifelines": (("lifelines.utils", 3), ("lifelines.statistics", 2)),
    "arch": (("arch.univariate.recursions_python", 3), ("arch.unitroot", 1),
             ("arch.univariate:Normal", 2)),
    "gymnasium": (("gymnasium.envs.classic_control", 4),),
    "platypus-opt": (("platypus.problems", 6),),
    "ruptures": (("ruptures.costs", 6),),
    "dtaidistance": (("dtaidistance.dtw", 2), ("dtaidistance.ed", 2), ("dtaidistance.dtw_ndim", 1)),
    "ambiance": (("ambiance:Atmosphere", 7),),
    "pygeodesy": (("pygeodesy.formy", 8), ("pygeodesy.fmath", 5),
                  ("pygeodesy.sphericalTrigonometry:LatLon", 4)),
    "param": (("param", 2),),
    "networkx": (("networkx.algorithms.link_analysis", 2), ("networkx.linalg", 3),
                 ("networkx.algorithms.shortest_paths.weighted", 1)),
    "chaospy": (("chaospy:Normal", 4), ("chaospy", 4)),
    "numpoly": (("numpoly", 8),),
    "hmmlearn": (("hmmlearn.hmm:GaussianHMM", 3), ("hmmlearn.stats", 1)),
    "trimesh": (("trimesh.transformations", 7), ("trimesh.triangles", 5), ("trimesh.geometry", 3)),
    "python_speech_features": (("python_speech_features", 5),
                               ("python_speech_features.sigproc", 4)),
    "spectrum": (("spectrum.linear_prediction", 4), ("spectrum.window", 4), ("spectrum", 3)),
    "MetPy": (("metpy.calc", 9),),
    "wrapt": (("wrapt", 3),),
    "ase": (("ase.geometry", 4), ("ase.eos", 4), ("ase:Atoms", 4)),
    "quimb": (("quimb", 8),),
    "emcee": (("emcee.autocorr", 2),),
    "xarray": (("xarray:DataArray", 8),),
}
"""What each package is sampled from, ``module`` or ``module:class``, and how many functions."""


def public(source: str) -> list[str]:
    """Return the public functions of a module, its classes among them, or methods of a class."""
    module, _, name = source.partition(":")
    owner: Any = importlib.import_module(module)
    if name:
        owner = getattr(owner, name)
    names = [one for one in dir(owner) if not one.startswith("_")]
    if not name and hasattr(owner, "__all__"):
        names = [one for one in owner.__all__ if not one.startswith("_")]
    return sorted(one for one in names if fits(owner, one, bool(name), module.partition(".")[0]))


def fits(owner: Any, name: str, method: bool, package: str) -> bool:
    """Return whether a name is that of a function of the package itself."""
    found = inspect.getattr_static(owner, name, None) if method else getattr(owner, name, None)
    if method:
        return callable(found) or isinstance(found, property | classmethod | staticmethod)
    home = getattr(found, "__module__", None) or ""
    return callable(found) and home.partition(".")[0] in (package, "")


def drawn(source: str) -> list[str]:
    """Return the public functions of a module or class in the order drawn."""
    names = public(source)
    random.Random(f"{SEED} {source}").shuffle(names)
    return names


def main() -> None:
    """Print what is drawn."""
    for package, sources in SOURCES.items():
        for source, count in sources:
            print(f"{package} | {source} | {count} | {' '.join(drawn(source))}")


if __name__ == "__main__":
    main()
