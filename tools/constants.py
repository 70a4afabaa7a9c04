"""Numbers and names that the start of a command shares with what it loads."""

INTERRUPTED = 130
"""128 + SIGINT, as shells report it."""

NO_CACHE = "--no-cache"
"""The option of commands that neither use nor keep results of earlier runs."""

SERVER_VARIABLE, SERVER_OPTION = "PTO_SERVER", "--server"

PROGRAM_ONLY = (
    *("entry", "format", "blocks", "windows", "arguments", "outputs", "expectations", "rtol", "atol", "profile"),
    *("emit_python", "fix", "listing", "auto", "seed", "init_launch", "reference", "debug", "compare"),
    "show_compile",
)
"""Parameters that a launch file says itself, or that look at one run."""
