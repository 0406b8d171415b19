"""Programs run over what values depend on."""
