"""Calls of packages of meshes and of atoms."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.real.packages.cases import Case, case
from tests.record.packages.calls import of_module
from tests.record.packages.geometry import MATRIX, P, POINTS

TRIANGLES = np.array([[[0.0, 0.1, 0.2], [1.0, 0.2, 0.1], [0.3, 1.1, 0.4]],
                      [[0.5, 0.1, 0.9], [1.3, 0.6, 0.2], [0.2, 0.9, 1.5]]])
here = of_module("solids")


def normals_of(triangles: Any) -> Any:
    from trimesh.triangles import normals

    return normals(triangles)[0]


TRIMESH = (
    case("trimesh.transformations:translation_matrix", P),
    case("trimesh.transformations:rotation_matrix", 0.7, P, P[::-1].copy()),
    case("trimesh.transformations:transform_around", MATRIX, P[:2].copy()),
    case("trimesh.transformations:vector_norm", POINTS, 1, at=(0,)),
    case("trimesh.transformations:angle_between_vectors", POINTS.T.copy(), POINTS.T[::-1].copy()),
    case("trimesh.transformations:spherical_matrix", 0.7, 0.4),
    case("trimesh.transformations:unit_vector", POINTS),
    case("trimesh.triangles:angles", TRIANGLES), case("trimesh.triangles:extents", TRIANGLES),
    case("trimesh.triangles:closest_point", TRIANGLES, POINTS[:2] + 0.5),
    here("normals_of", TRIANGLES),
    case("trimesh.triangles:diagonal_dot", POINTS, POINTS * POINTS),
    case("trimesh.geometry:align_vectors", P, P[::-1].copy()),
    case("trimesh.geometry:vector_angle", TRIANGLES[:, :2].copy()),
    case("trimesh.geometry:plane_transform", P, np.array([0.3, 0.2, 0.9])),
)


def cluster(positions: Any) -> Any:
    from ase import Atoms

    return Atoms("Ar4", positions=positions)


def energies(positions: Any) -> Any:
    from ase.calculators.lj import LennardJones

    atoms = cluster(positions)
    atoms.calc = LennardJones(sigma=0.5, rc=4.0)
    return atoms.get_potential_energies()


def energy(positions: Any) -> Any:
    from ase.calculators.lj import LennardJones

    atoms = cluster(positions)
    atoms.calc = LennardJones(sigma=0.5, rc=4.0)
    return atoms.get_potential_energy()


def dihedral(positions: Any) -> Any:
    return cluster(positions).get_dihedral(0, 1, 2, 3)


def all_distances(positions: Any) -> Any:
    return cluster(positions).get_all_distances()


ASE = (
    case("ase.geometry:get_angles", POINTS[:3].copy(), POINTS[1:4].copy()),
    case("ase.geometry:get_dihedrals", POINTS[:2].copy(), POINTS[1:3].copy(), POINTS[3:5].copy()),
    case("ase.geometry:conditional_find_mic", [POINTS[:2].copy()], None, None),
    case("ase.geometry:get_dihedrals_derivatives", POINTS[:2].copy(), POINTS[1:3].copy(),
         POINTS[3:5].copy()),
    case("ase.eos:murnaghan", 10.0, -3.0, 0.5, 4.0, 11.0),
    case("ase.eos:anton_schmidt", 10.0, -3.0, 0.5, -2.0, 11.0),
    case("ase.eos:vinet", 10.0, -3.0, 0.5, 4.0, 11.0),
    case("ase.eos:p3", 1.3, 0.5, -0.3, 0.2, 0.7),
    here("energies", POINTS[:4].copy()), here("energy", POINTS[:4].copy()),
    here("dihedral", POINTS[:4].copy()), here("all_distances", POINTS[:4].copy()),
)

GROUPS: dict[str, tuple[Case, ...]] = {"trimesh": TRIMESH, "ase": ASE}
