"""insert-sync leaves functions with flags of their own alone, and says so.

Source: docs/reference/synchronisation.md, "What is not followed".
"""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from tools.pto_opt import main

TEXT = """!t = !pto.tile_buf<vec, 16x16xf32>
module attributes {{pto.target_arch = "a5"}} {{
  func.func @k(%p: !pto.partition_tensor_view<16x16xf32>, %q: !pto.partition_tensor_view<16x16xf32>) {{
    %a = pto.alloc_tile : !t
    pto.tload ins(%p : !pto.partition_tensor_view<16x16xf32>) outs(%a : !t)
{own}    pto.tadd ins(%a, %a : !t, !t) outs(%a : !t)
    pto.tstore ins(%a : !t) outs(%q : !pto.partition_tensor_view<16x16xf32>)
    return
  }}
}}
"""
FLAGS = '    pto.set_flag["PIPE_MTE2", "PIPE_V", "EVENT_ID0"]\n    pto.wait_flag["PIPE_MTE2", "PIPE_V", "EVENT_ID0"]\n'
LOCK = '    pto.get_buf "PIPE_V", 0, 0\n    pto.rls_buf "PIPE_V", 0, 0\n'
BARRIER = "    pto.barrier #pto.pipe<PIPE_ALL>\n"


@pytest.mark.parametrize("options", [("-p", "insert-sync"), ("--lower=sync",)])
@pytest.mark.parametrize(("own", "name"), [(FLAGS, "pto.set_flag"), (LOCK, "pto.get_buf"), ("", ""), (BARRIER, "")])
def test_a_function_with_flags_is_left_alone_and_reported(
    own: str, name: str, options: tuple[str, ...], tmp_path: Path
) -> None:
    file = tmp_path / "k.pto"
    file.write_text(TEXT.format(own=own))
    plain = CliRunner().invoke(main, [str(file), "-p", ""])
    found = CliRunner().invoke(main, [str(file), *options])
    assert found.exit_code == 0, found.output
    assert (found.stdout == plain.stdout) == bool(name)
    told = f"k.pto:6:5: info: insert-sync leaves this function as it is, because it has {name}"
    assert (told in found.stderr) == bool(name)
    assert found.stderr.count("insert-sync-left-alone") == bool(name)
