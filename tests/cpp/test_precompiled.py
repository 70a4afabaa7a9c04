"""Compiled headers: they are made once, used where a kernel cannot change them, and never decide what is accepted."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from pto_dialect import accel
from pto_dialect.cpp import compiler, precompiled
from pto_dialect.cpp.compiler import CompileError, compile_to_ir

HEAD = "#include <pto/pto-inst.hpp>\nusing namespace pto;\n"
KERNEL = """\
extern "C" __global__ AICORE void twice(__gm__ float *out, __gm__ float *in)
{
    using Row = GlobalTensor<float, Shape<1, 1, 1, 1, WIDTH>, Stride<WIDTH, WIDTH, WIDTH, WIDTH, 1>>;
    Tile<TileType::Vec, float, 1, WIDTH> tile;
    Row source(in), target(out);
    TASSIGN(tile, 0);
    TLOAD(tile, source);
    TADD(tile, tile, tile);
    TSTORE(target, tile);
}
"""


class Calls:
    """What a compiler was called for: ``after`` the headers, ``whole`` texts, ``headers``."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.kinds: list[str] = []
        for module in (compiler, precompiled):
            monkeypatch.setattr(module, "run_compiler", self._counted(module.run_compiler))

    def _counted(self, run):
        def counted(command, folder):
            is_after = "-include-pch" in command
            self.kinds.append("headers" if "c++-header" in command else "after" if is_after else "whole")
            return run(command, folder)

        return counted

    def of(self, text: str, defines: tuple[str, ...] = ("WIDTH=64",)) -> list[str]:
        self.kinds.clear()
        compile_to_ir(text, "kernel.cpp", defines=defines, cached=False)
        return list(self.kinds)


@pytest.fixture
def calls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Calls:
    if not accel.enabled("cpp-headers"):
        pytest.skip("compiled headers are disabled")
    monkeypatch.setenv("PTO_CACHE_DIR", str(tmp_path / "cache"))
    return Calls(monkeypatch)


def test_headers_are_compiled_once(calls: Calls) -> None:
    assert calls.of(HEAD + KERNEL) == ["headers", "after"]
    assert calls.of(HEAD + KERNEL, ("WIDTH=128",)) == ["after"]
    # Tiles without addresses are other classes.
    assert calls.of(HEAD + KERNEL.replace("TASSIGN(tile, 0);", "")) == ["headers", "after"]


@pytest.mark.parametrize(
    "text",
    [
        "#define __PTO_AUTO__\n" + HEAD + KERNEL,
        "#define PTO_NPU_ARCH_A5 1\n" + HEAD + KERNEL,
        'extern "C" __global__ void none(__gm__ float *out) {}\n',
    ],
    ids=["automatic mode", "chip", "no interface"],
)
def test_kernel_that_changes_the_headers_or_includes_none_is_compiled_with_them(calls: Calls, text: str) -> None:
    assert calls.of(text) == ["whole"]


def test_definition_that_changes_the_headers(calls: Calls) -> None:
    assert calls.of(HEAD + KERNEL, ("WIDTH=64", "NDEBUG")) == ["whole"]


def test_kernel_that_the_headers_disturb_is_compiled_as_its_text_says(calls: Calls) -> None:
    own = "#ifdef NEVER\n#include <pto/pto-inst.hpp>\n#endif\nnamespace pto { enum class Layout { Own }; }\n"
    text = own + 'extern "C" int own() { return int(pto::Layout::Own) + 3; }\n'
    assert calls.of(text)[-2:] == ["after", "whole"]


def test_error_is_that_of_the_whole_text(calls: Calls) -> None:
    with pytest.raises(CompileError, match=r"kernel\.cpp:3:12: error: use of undeclared identifier 'undeclared'"):
        calls.of(HEAD + "void f() { undeclared(); }\n")
    assert calls.kinds == ["headers", "after", "whole"]


def test_missing_include_is_reported_at_once(calls: Calls) -> None:
    with pytest.raises(CompileError, match=r"kernel\.cpp:3:10: fatal error: 'missing\.h' file not found"):
        calls.of(HEAD + '#include "missing.h"\n')
    assert calls.kinds == ["headers", "after"]


def test_damaged_headers_are_made_again(calls: Calls, tmp_path: Path) -> None:
    calls.of(HEAD + KERNEL)
    [path] = (tmp_path / "cache" / "cpp-headers").glob("*.pch")
    content = path.read_bytes()
    path.write_bytes(content[:5000] + bytes([content[5000] ^ 1]) + content[5001:])
    assert calls.of(HEAD + KERNEL) == ["headers", "after"]


@pytest.mark.skipif(os.name == "nt", reason="files have no such modes")
def test_headers_that_others_can_write_are_made_again(calls: Calls, tmp_path: Path) -> None:
    calls.of(HEAD + KERNEL)
    [path] = (tmp_path / "cache" / "cpp-headers").glob("*.pch")
    path.chmod(0o666)
    assert calls.of(HEAD + KERNEL) == ["headers", "after"]


def test_compiler_that_cannot_compile_headers_is_tried_once(
    calls: Calls, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "clang++"
    script = 'case "$*" in *--version*) echo clang version 20.0.0; exit;; *c++-header*) exit 1;; esac\n'
    path.write_text(f"#!/bin/sh\n{script}" + 'while [ "$1" != -o ]; do shift; done; echo made > "$2"\n', "utf-8")
    path.chmod(0o755)
    monkeypatch.setenv("PTO_CXX", str(path))
    assert calls.of(HEAD + KERNEL) == ["headers", "whole"]
    assert calls.of(HEAD + KERNEL) == ["whole"]


def test_old_headers_are_removed(calls: Calls, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(precompiled, "MOST_HEADERS", 1)
    calls.of(HEAD + KERNEL)
    calls.of(HEAD + KERNEL.replace("TASSIGN(tile, 0);", ""))
    folder = tmp_path / "cache" / "cpp-headers"
    assert len(list(folder.glob("*.pch"))) == len(list(folder.glob("*.json"))) == 1


def test_text_is_the_same_without_compiled_headers(calls: Calls, monkeypatch: pytest.MonkeyPatch) -> None:
    def body() -> list[str]:
        text = compile_to_ir(HEAD + KERNEL, "kernel.cpp", defines=("WIDTH=64",), cached=False).text
        function = text.partition("define void @twice")[2].partition("\n}\n")[0]
        return [re.sub(r", !dbg.*|#\d+", "", line) for line in function.splitlines()[1:]]

    after = body()
    monkeypatch.setattr(accel, "_disabled", frozenset({"cpp-headers"}))
    assert after == body()
    assert calls.kinds == ["headers", "after", "whole"]
    assert sum("@_Z8__pto_op" in line for line in after) == 3
