"""Python programs that build `.pto`, without the compiled bindings of MLIR. See docs/integrations.md."""
