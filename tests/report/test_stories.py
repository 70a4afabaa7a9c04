"""The stories of the guide, replayed: what it says of them is what their pages say.

Source: docs/find-the-mistake.md, "Sums that are a little too small".
"""

from __future__ import annotations

import re
import shlex

import numpy as np
import pytest
from click.testing import CliRunner
from read_pages import ROOT, Read

from tools.pto_run import main

GUIDE = (ROOT / "docs" / "find-the-mistake.md").read_text(encoding="utf-8")
PROGRAMS = re.findall(r"`(\w+)\.pto` .*?```mlir\n(.*?)```.*?\$ pto-run (.*?)\n", GUIDE, re.S)


@pytest.fixture(scope="module")
def stories(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Read]:
    folder = tmp_path_factory.mktemp("stories")
    code = re.findall(r"```python\n(.*?)```", GUIDE, re.S)[0]
    exec(
        compile(
            code.replace('"x', f'"{folder}/x').replace('"sums', f'"{folder}/sums').replace('"y', f'"{folder}/y'),
            "guide",
            "exec",
        ),
        {},
    )
    found: dict[str, Read] = {}
    for name, program, command in PROGRAMS:
        (folder / f"{name}.pto").write_text(program, encoding="utf-8")
        words = [re.sub(r"(^|=)(\w+\.(?:npy|pto|html))$", rf"\1{folder}/\2", word) for word in shlex.split(command)]
        result = CliRunner().invoke(main, [*words, "--no-cache"])
        assert result.exit_code in (1, 3), result.output
        found[name] = Read((folder / f"{name}.html").read_text(encoding="utf-8"))
    return found


def test_all_stories_have_programs_and_pictures() -> None:
    assert [name for name, *_ in PROGRAMS] == ["sums", "shared", "late"]
    for picture in re.findall(r"\]\((images/[\w-]+\.png)\)", GUIDE):
        assert (ROOT / "docs" / picture).is_file()


def test_the_tile_that_is_summed_up_is_valid_up_to_column_48(stories: dict[str, Read]) -> None:
    found = stories["sums"]
    box = next(number for number, one in enumerate(found.doc["boxes"]) if one["name"] == "%t")
    shape = next(one for one in found.doc["shapes"] if one is not None and one["box"] == box)
    assert (shape["validRows"], shape["validCols"], shape["cols"]) == (8, 48, 64)
    assert found.doc["findings"][0]["rule"] == "expectation"


def test_two_tiles_share_bytes_and_the_product_has_written_them(stories: dict[str, Read]) -> None:
    found = stories["shared"]
    boxes = {one["name"]: (one["start"], one["stop"]) for one in found.doc["boxes"]}
    assert boxes["%once"] == (0, 4096) and boxes["%twice"] == (2048, 6144)
    table, writer = found.accesses, None
    unified = next(number for number, one in enumerate(found.doc["memories"]) if one["space"] == "ub")
    for row in range(len(table["step"])):
        region = int(table["region"][row])
        inside = found.regions["memory"][region] == unified and 3000 in found.offsets(region)
        if table["writes"][row] and inside and table["step"][row] < 2:
            writer = found.doc["sites"][int(table["site"][row])]["op"]
    assert writer == "pto.tmuls"
    result = found.memory(found.memory_called("y")).astype(np.uint8).view(np.float32).reshape(16, 64)
    wrong = (result != 3 * ((np.arange(1024) % 64).reshape(16, 64) + 1)).any(axis=1)
    assert wrong.tolist() == [False] * 8 + [True] * 8


def test_the_product_begins_before_the_store_is_over(stories: dict[str, Read]) -> None:
    found = stories["late"]
    (finding,) = found.doc["findings"]
    store, product = finding["steps"]
    assert finding["rule"] == "race-war" and finding["ranges"] == [[4096, 8192]]
    assert found.steps["start"][product] < found.steps["end"][store]
    assert [round(float(found.steps[side][store])) for side in ("start", "end")] == [375, 677]
