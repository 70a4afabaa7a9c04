"""From C++ text to LLVM IR: the compiler that is found, its messages, entries, limits, the cache."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from cpp_texts import HEAD, compiled, message

from pto_dialect.children import run_limited
from pto_dialect.cpp import compiler, compilers, limits
from pto_dialect.cpp.compiler import BadOption, CompileError, compile_to_ir, cores_of
from pto_dialect.cpp.compilers import CompilerMissing, find_compiler

KERNEL = """\
template <typename T, int N>
__global__ AICORE void twice(__gm__ T *out, __gm__ T *in)
{
    Tile<TileType::Vec, T, 1, N> tile;
    GlobalTensor<T, Shape<1, 1, 1, 1, N>, Stride<N, N, N, N, 1>> source(in), target(out);
    TASSIGN(tile, 0);
    TLOAD(tile, source);
    TADD(tile, tile, tile);
    TSTORE(target, tile);
}
"""


@pytest.fixture
def no_compiler(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    monkeypatch.setenv("PATH", str(tmp_path))
    for name in ("CXX", "PTO_CXX"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(compilers, "find_spec", lambda name: None)
    compilers.clang_version.cache_clear()
    yield
    compilers.clang_version.cache_clear()


def fake_compiler(path: Path, version: str, body: str = "exit 0") -> Path:
    path.write_text(f'#!/bin/sh\ncase "$*" in *--version) echo "{version}"; exit 0;; esac\n{body}\n', encoding="utf-8")
    path.chmod(0o755)
    return path


# The compiler.


def test_nothing_is_found(no_compiler: None) -> None:
    with pytest.raises(CompilerMissing, match=r"no C\+\+ compiler was found .*`pip install 'pto-dialect\[cpp\]'"):
        find_compiler()


def test_named_compiler_is_missing(no_compiler: None) -> None:
    with pytest.raises(CompilerMissing, match=r"the compiler 'clang\+\+-99' of --cxx was not found"):
        find_compiler("clang++-99")


@pytest.mark.parametrize("version", ["g++ (GCC) 13.2", "clang version 14.0.0"])
def test_named_compiler_is_no_new_clang(no_compiler: None, tmp_path: Path, version: str) -> None:
    path = fake_compiler(tmp_path / "compiler", version)
    with pytest.raises(CompilerMissing, match=r"of --cxx is not clang\+\+ 15 or newer"):
        find_compiler(str(path))


def test_variables_come_before_the_path(no_compiler: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = fake_compiler(tmp_path / "clang++", "clang version 15.0.7")
    assert find_compiler().command == (str(found),)
    monkeypatch.setenv("CXX", str(fake_compiler(tmp_path / "gcc", "g++ (GCC) 13.2")))
    assert find_compiler().command == (str(found),)
    monkeypatch.setenv("PTO_CXX", f"{fake_compiler(tmp_path / 'own', 'clang version 22.1.0')} --sysroot=/opt")
    assert find_compiler().command == (str(tmp_path / "own"), "--sysroot=/opt")


def test_relative_folders_of_the_path_are_not_searched(
    no_compiler: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake_compiler(tmp_path / "clang++", "clang version 20.0.0")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", os.pathsep.join((".", "")))
    with pytest.raises(CompilerMissing):
        find_compiler()


def test_compiler_sees_no_variable_that_changes_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = fake_compiler(
        tmp_path / "clang++", "clang version 20.0.0", "echo error: $CPATH$CCC_OVERRIDE_OPTIONS; exit 1"
    )
    monkeypatch.setenv("CPATH", "/elsewhere")
    monkeypatch.setenv("CCC_OVERRIDE_OPTIONS", "+-fplugin=x")
    with pytest.raises(CompileError) as error:
        compile_to_ir("", "kernel.cpp", cxx=str(path), cached=False)
    assert str(error.value) == "error:"


def test_limits_of_time_and_memory() -> None:
    assert run_limited(["/bin/sh", "-c", "sleep 60"], None, seconds=0.02)[0] < 0
    code, _ = run_limited([sys.executable, "-c", "b'x' * (1 << 31)"], None, seconds=20, megabytes=500)
    assert code != 0


def test_compiler_that_is_ended_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = fake_compiler(tmp_path / "clang++", "clang version 20.0.0", "sleep 60")
    monkeypatch.setattr(limits, "SECONDS", 0.02)
    with pytest.raises(CompileError, match=r"did not finish within 0.02 s and 6000 MB"):
        compile_to_ir("", "kernel.cpp", cxx=str(path), cached=False)


# Messages.


def test_error_names_the_line_of_the_user() -> None:
    assert message("void f() { undeclared(); }") == "kernel.cpp:3:12: error: use of undeclared identifier 'undeclared'"


def test_static_assertion_speaks_of_tiles() -> None:
    with pytest.raises(CompileError) as error:
        compiled("void f() { Tile<TileType::Vec, float, 16, 3> t; }")
    found = str(error.value)
    assert "a line of a tile (a row of RowMajor, a column of ColMajor) must be a multiple of 32 bytes" in found
    assert "kernel.cpp:3:46: note: in instantiation of template class 'pto::Tile<" in found


def test_unknown_overload() -> None:
    found = message("void f(Tile<TileType::Vec, float, 16, 64> &t) { TADD(t, t); }")
    assert found == "kernel.cpp:3:49: error: no matching function for call to 'TADD'"


def test_open_size_cannot_be_set_where_it_is_known() -> None:
    text = "void f(Tile<TileType::Vec, float, 16, 64> &t) { t.SetValidRow(3); }"
    with pytest.raises(CompileError, match=r"only a dynamic \(-1\) valid row count can be set"):
        compiled(text)


def test_missing_include() -> None:
    assert message('#include "no_such.h"') == "kernel.cpp:3:10: fatal error: 'no_such.h' file not found"


def test_fatal_error_is_the_only_one() -> None:
    with pytest.raises(CompileError) as error:
        compiled('#include "no_such.h"')
    assert "pto_device.hpp" not in str(error.value)


def test_messages_do_not_name_the_temporary_folder() -> None:
    with pytest.raises(CompileError) as error:
        compiled("int x = ;")
    assert "pto-cpp-" not in str(error.value)


# Entries.


def test_template_without_arguments_is_left_to_the_launches() -> None:
    assert "__pto_entry" not in compile_to_ir(HEAD + KERNEL, "k.cpp", entry="twice").text


def test_template_with_arguments_is_instantiated() -> None:
    text = compiled(KERNEL, entry="twice<half, 128>")
    assert "@__pto_entry = local_unnamed_addr global ptr @_Z5twiceIDF16_Li128EEvPT_S1_" in text
    assert "tile:Vec,f16,1x128" in text


@pytest.mark.parametrize("entry", ["f; int x", "f}", "#include <x>", "", "f(1)", "f\nint y"])
def test_text_that_is_no_function_is_refused(entry: str) -> None:
    with pytest.raises(BadOption, match="is no function, nor a template"):
        compiled(KERNEL, entry=entry)


@pytest.mark.parametrize("definition", ["", "A B", "1A", "A\nB=1", "-x"])
def test_text_that_is_no_definition_is_refused(definition: str) -> None:
    with pytest.raises(BadOption, match="is no definition"):
        compile_to_ir(KERNEL, "kernel.cpp", defines=[definition])


def test_definitions_reach_the_kernel() -> None:
    text = HEAD + 'extern "C" int size() { return SIZE; }'
    assert "ret i32 77" in compile_to_ir(text, "kernel.cpp", defines=["SIZE=77"], cached=False).text


# Launches.

LAUNCH = (
    KERNEL
    + """
void launch(float *out, float *in, void *stream) { twice<float, 64><<<24, nullptr, stream>>>(out, in); }
"""
)


def test_launch_instantiates_the_kernel() -> None:
    made = compile_to_ir(HEAD + LAUNCH, "kernel.cpp", cached=False)
    assert "tile:Vec,f32,1x64" in made.text and "pto.entry" in made.text
    assert [(one.kernel, one.blocks, one.line) for one in made.launches] == [("twice<float, 64>", "24", 14)]


def test_launch_in_an_included_file(tmp_path: Path) -> None:
    (tmp_path / "launcher.h").write_text(LAUNCH, encoding="utf-8")
    text = HEAD + '#include "launcher.h"\n'
    assert "tile:Vec,f32,1x64" in compile_to_ir(text, str(tmp_path / "kernel.cpp"), cached=False).text


def test_library_headers_that_are_not_here_are_the_whole_interface() -> None:
    assert (
        "tile:Vec"
        in compile_to_ir(
            "#include <pto/npu/a2a3/TSomething.hpp>\nusing namespace pto;\n" + LAUNCH, "kernel.cpp", cached=False
        ).text
    )


# Cores.


@pytest.mark.parametrize(
    ("text", "cores"),
    [
        ("TADD(a, b, c);", ("vector",)),
        ("TMATMUL(a, b, c);", ("cube",)),
        ("#ifdef __DAV_CUBE__\n#endif\n#ifdef __DAV_VEC__\n#endif", ("vector", "cube")),
        ("// TMATMUL\nTADD(a, b, c);", ("vector",)),
    ],
)
def test_cores_follow_from_what_a_kernel_names(text: str, cores: tuple[str, ...]) -> None:
    assert cores_of(text, "kernel.cpp") == cores


def test_each_core_sees_its_own_code() -> None:
    text = """
extern "C" __global__ AICORE void mixed() {
#if defined(__DAV_CUBE__)
    pipe_barrier(PIPE_M);
#endif
#if defined(__DAV_VEC__)
    pipe_barrier(PIPE_V);
#endif
}
"""
    assert "@_Z18__pto_pipe_barrieri(i32 noundef 2)" in compiled(text, core="cube")
    assert "@_Z18__pto_pipe_barrieri(i32 noundef 1)" in compiled(text, core="vector")


def test_left_tiles_follow_the_target() -> None:
    text = 'extern "C" void f() { TileLeft<half, 16, 16> t; TASSIGN(t, 0); }'
    assert "tile:Left,f16,16x16,RowMajor" in compiled(text, target="a2a3")
    assert "tile:Left,f16,16x16,ColMajor" in compiled(text, target="a5")


# Tiles without addresses.


@pytest.mark.parametrize(
    ("text", "options", "is_alias"),
    [
        ("", {}, True),
        ("TASSIGN(tile, 0x40);", {}, False),
        ("TASSIGN(tile, 0x40);", {"defines": ["__PTO_AUTO__"]}, True),
        ("// TASSIGN(tile, 0x40);", {}, True),
    ],
)
def test_tiles_are_known_by_their_declaration_where_none_has_an_address(
    text: str, options: dict[str, list[str]], is_alias: bool
) -> None:
    tile = "Tile<TileType::Vec, float, 1, 64> tile;"
    body = f'{HEAD}extern "C" void f() {{ {tile}\n{text}\nTABS(tile, tile); }}'
    made = compile_to_ir(body, "kernel.cpp", cached=False, defines=options.get("defines", [])).text
    assert ('c"Tile\\00"' in made, "@_Z12__pto_assignPKcl(ptr" in made) == (is_alias, not is_alias)


# The cache.


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PTO_CACHE_DIR", str(tmp_path / "cache"))
    (tmp_path / "size.h").write_text("constexpr int SIZE = 64;\n", encoding="utf-8")
    return tmp_path


def cached(folder: Path, body: str = "") -> tuple[str, bool]:
    """The IR of a kernel that includes a file, and whether a compiler made it now."""
    runs: list[bool] = []
    run = limits.run_limited

    def counted(*arguments: object, **options: object) -> tuple[int, str]:
        runs.append(True)
        return run(*arguments, **options)  # type: ignore[arg-type]

    text = HEAD + '#include "size.h"\n' + LAUNCH.replace("<float, 64>", "<float, SIZE>") + body
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(limits, "run_limited", counted)
        return compile_to_ir(text, str(folder / "kernel.cpp")).text, bool(runs)


def test_unchanged_kernel_is_not_compiled_again(cache: Path) -> None:
    first, made = cached(cache)
    assert made
    assert cached(cache) == (first, False)


def test_a_kernel_is_compiled_again_by_another_version_of_the_front_end(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cached(cache)
    monkeypatch.setattr(compiler, "compiling_code", lambda: "another")
    assert cached(cache)[1]


def test_changed_kernel_or_included_file_is_compiled_again(cache: Path) -> None:
    assert "1x64" in cached(cache)[0]
    assert cached(cache, "// more\n")[1]
    (cache / "size.h").write_text("constexpr int SIZE = 128;\n", encoding="utf-8")
    text, made = cached(cache)
    assert made and "1x128" in text


@pytest.mark.parametrize(
    ("text", "later"),
    [
        ("#include <size.h>", "first/size.h"),
        ('#include "size.h"', "size.h"),
        ("#include <part/size.h>", "first/part/size.h"),
        ('#if __has_include("late.h")\n#include "late.h"\n#else\n#include <size.h>\n#endif', "late.h"),
        ("#if __has_include(<late.h>)\n#include <late.h>\n#else\n#include <size.h>\n#endif", "second/late.h"),
        ("#include <outer.h>", "first/size.h"),
        ("#define HEADER <size.h>\n#include HEADER", "first/size.h"),
        ("#inc\\\nlude /* the size */ <size.h>", "first/size.h"),
    ],
)
def test_file_that_appears_and_is_found_before_is_included(
    text: str, later: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PTO_CACHE_DIR", str(tmp_path / "cache"))
    folders = [tmp_path / "first", tmp_path / "second"]
    for folder in (*folders, tmp_path / "first" / "part", tmp_path / "second" / "part"):
        folder.mkdir()
    for name in ("size.h", "part/size.h"):
        (tmp_path / "second" / name).write_text("constexpr int SIZE = 1;\n", encoding="utf-8")
    (tmp_path / "second" / "outer.h").write_text("#include <size.h>\n", encoding="utf-8")

    def size() -> str:
        name, includes = str(tmp_path / "kernel.cpp"), [str(folder) for folder in folders]
        return compile_to_ir(f'{text}\nextern "C" int size() {{ return SIZE; }}', name, includes=includes).text

    assert "ret i32 1" in size()
    (tmp_path / later).write_text("constexpr int SIZE = 2;\n", encoding="utf-8")
    assert "ret i32 2" in size()


@pytest.mark.parametrize("place", ["/proc", "/dev/null"])
def test_cache_folder_that_cannot_be_written(place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("PTO_CACHE_DIR", "ZIG_GLOBAL_CACHE_DIR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", place)
    compilers.clang_version.cache_clear()
    assert "ret i32 1" in compile_to_ir('extern "C" int one() { return 1; }', str(tmp_path / "kernel.cpp")).text


def test_folder_of_includes_must_exist(tmp_path: Path) -> None:
    missing = str(tmp_path / "missing")
    with pytest.raises(BadOption, match=r"-I names '.*missing', which is no folder"):
        compile_to_ir("", "kernel.cpp", includes=[missing], cached=False)


def test_damaged_entry_is_made_again(cache: Path) -> None:
    cached(cache)
    (entry,) = (cache / "cache" / "cpp").iterdir()
    entry.write_bytes(entry.read_bytes()[:-3])
    assert cached(cache)[1]


def test_entry_that_others_could_write_is_not_used(cache: Path) -> None:
    cached(cache)
    (entry,) = (cache / "cache" / "cpp").iterdir()
    entry.chmod(0o666)
    assert cached(cache)[1]


def test_loops_that_fill_or_copy_memory_stay_loops() -> None:
    text = compiled(
        'extern "C" __global__ AICORE void k(__gm__ float *__restrict x, __gm__ float *__restrict y, int32_t n) {\n'
        "  for (int i = 0; i < 16; i++) x[i] = 0.0f;\n"
        "  for (int i = 0; i < n; i++) y[i] = x[i];\n"
        "}\n"
    )
    assert "llvm.mem" not in text
    assert text.count("store float") == 2
