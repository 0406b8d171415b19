"""Rules of integrals of functions and of solutions of differential equations."""
