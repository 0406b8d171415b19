"""The text of native loops as LLVM IR."""
