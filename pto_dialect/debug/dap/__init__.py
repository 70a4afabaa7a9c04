"""The debug adapter: the debugger for editors, over the Debug Adapter Protocol."""
