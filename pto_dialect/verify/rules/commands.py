"""Command lines that break and satisfy rules about inputs and options.

The program of the rule, where it has one, is ``example.pto``.
"""

from __future__ import annotations

from typing import Final, NamedTuple


class Commands(NamedTuple):
    """A command line of a POSIX shell that is reported under a rule, and a similar one that is not."""

    bad: str
    good: str


def _both(command: str) -> Commands:
    """Returns the same command for both programs."""
    return Commands(command, command)


def _tasks(order: str) -> str:
    """Returns two tasks that write one buffer, the second with ``order``."""
    task = 'arguments = { a = "b" }\\ndirections = { a = "none" }\\n'
    text = f'program = "example.pto"\\n[buffers]\\nb = "zeros:f32:1"\\n[[task]]\\n{task}[[task]]\\n{order}{task}'
    return f"printf '{text}' > two.launch.toml; pto-run --sanitize two.launch.toml"


_TEXT = "printf 'module {{{}}}' | pto-opt -"
_COMMENT = "printf 'module {{}} // {}' | pto-opt -"
_NAMED = "printf 'module {}' > text.pto; pto-opt text.pto"
_SETTINGS = "printf '{}' > pto.toml; printf 'module {{}}' | pto-opt -"
_EXPECTING = _both("pto-opt --verify-diagnostics example.pto")
_JUDGE = "pto-opt --pedantic -p 'check-sync{judge=true}'"
_LIMITED = "ulimit -v 400000; head -c {} /dev/zero | tr '\\0' ' ' | pto-opt -"

COMMANDS: Final[dict[str, Commands]] = {
    "input-unreadable": Commands("ln -s loop.pto loop.pto; pto-opt loop.pto", _NAMED),
    "input-encoding": Commands(_COMMENT.format("\\377"), _COMMENT.format("\\303\\277")),
    "input-binary": Commands(_TEXT.format("\\0"), _TEXT.format(" ")),
    "input-empty": Commands("printf '' | pto-opt -", _TEXT.format("")),
    "input-memory": Commands(_LIMITED.format(300_000_000), _TEXT.format(" ")),
    "config-invalid": Commands(_SETTINGS.format("colour = 1"), _SETTINGS.format("werror = true")),
    "suppression-form": _both("pto-opt example.pto"),
    "suppression-unused": _both("pto-opt example.pto"),
    "unexpected-diagnostic": _EXPECTING,
    "missing-diagnostic": _EXPECTING,
    "malformed-expectation": _EXPECTING,
    "documentation-form": _both("pto-opt --allow-schematic example.pto"),
    "target-override": Commands("pto-opt --target a2a3 example.pto", "pto-opt --target a5 example.pto"),
    "assign-memory-unsupported": _both("pto-opt -p assign-memory example.pto"),
    "assign-memory-full": _both("pto-opt -p assign-memory example.pto"),
    **dict.fromkeys(
        ("insert-sync-unsupported", "insert-sync-left-alone", "insert-sync-shared-flag"),
        _both("pto-opt -p insert-sync example.pto"),
    ),
    "lower-cube-unsupported": _both("pto-opt -p lower-cube example.pto"),
    "lower-vector-unsupported": _both("pto-opt -p lower-vector example.pto"),
    "lower-transfers-unsupported": _both("pto-opt -p lower-transfers example.pto"),
    "tile-loops-unsupported": _both("pto-opt -p tile-loops example.pto"),
    "tile-loops-products": _both("pto-opt -p tile-loops example.pto"),
    "tile-loops-unchanged": _both("pto-opt -p tile-loops example.pto"),
    "tile-loops-arguments": _both("pto-opt -p tile-loops example.pto"),
    "unroll-unchanged": _both("pto-opt -p unroll example.pto"),
    "fuse-loops-apart": _both("pto-opt -p fuse-loops example.pto"),
    "fuse-loops-arguments": _both("pto-opt -p fuse-loops example.pto"),
    "join-transfers-unchanged": _both("pto-opt -p join-transfers example.pto"),
    "resize-panels-unchanged": _both("pto-opt -p 'resize-panels{columns=128}' example.pto"),
    "resize-panels-slots": _both("pto-opt -p 'resize-panels{columns=64}' example.pto"),
    "double-buffer-unchanged": _both("pto-opt -p double-buffer example.pto"),
    "double-buffer-one-slot": _both("pto-opt -p double-buffer example.pto"),
    "delay-pops-unchanged": _both("pto-opt -p delay-pops example.pto"),
    "tile-cube-unchanged": _both("pto-opt -p tile-cube example.pto"),
    "to-level1-unsupported": _both("pto-opt -p to-level1 example.pto"),
    "to-assembly-unsupported": _both("pto-opt -p 'to-assembly{attributes=drop}' example.pto"),
    "to-level2-unsupported": _both("pto-opt -p to-level2 example.pto"),
    "prove-difference": Commands(
        "pto-opt --prove --allow prove-finding -p 'insert-sync,assign-memory{reuse=max}' example.pto",
        "pto-opt --prove --allow prove-done --lower example.pto",
    ),
    "prove-finding": Commands(
        "pto-opt --prove --allow prove-difference -p 'insert-sync,assign-memory{reuse=max}' example.pto",
        "pto-opt --prove --allow prove-done --lower example.pto",
    ),
    "prove-open": Commands(
        "pto-opt --prove --allow prove-done --lower example.pto",
        "pto-opt --prove --allow prove-done --lower example.pto",
    ),
    "prove-done": Commands("pto-opt --prove --lower example.pto", "pto-opt --lower example.pto"),
    **dict.fromkeys(("sync-redundant", "sync-serialising", "sync-undecided"), _both(f"{_JUDGE} example.pto")),
    **dict.fromkeys(("sync-removed", "sync-kept"), _both("pto-opt --pedantic -p remove-redundant-sync example.pto")),
    **dict.fromkeys(("sync-hoisted", "sync-in-place"), _both("pto-opt --pedantic -p hoist-sync example.pto")),
    "order-proven": Commands("pto-opt -p prove-order example.pto", "pto-opt example.pto"),
    **dict.fromkeys(
        ("order-refuted", "order-undecided"),
        Commands("pto-opt -p prove-order example.pto", "pto-opt --allow order-proven -p prove-order example.pto"),
    ),
    "race-task": Commands(_tasks(""), _tasks('after = ["task1"]\\n')),
    "run-timeout": Commands("pto-run --timeout 1 --arg a=1 example.pto", "pto-run --timeout 99 --arg a=1 example.pto"),
}
"""Command lines by rule id."""
