"""Loops as machine code: LLVM compiles them."""
