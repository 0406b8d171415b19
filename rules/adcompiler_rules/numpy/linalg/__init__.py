"""Rules of products, norms, systems, eigenvalues and decompositions of matrices."""
