"""Files that a kernel includes or looks for with the preprocessor: those of its project, and no others."""

from __future__ import annotations

from pathlib import Path

import pytest
from cpp_texts import HEAD, compiled, message

from pto_dialect.cpp.asked import files_of_rule
from pto_dialect.cpp.compiler import IncludeError, compile_to_ir


@pytest.mark.parametrize(
    "include",
    [
        '#include "{outside}/secret.h"',
        '#include "../outside/secret.h"',
        '#include "link.h"',
        '#define FILE "{outside}/secret.h"\n#include FILE',
        '#include "{outside}/secret.h"\nint x = ;',
        '#if __has_include("{outside}/secret.h")\n#endif',
        "#if __has_include(<{outside}/secret.h>)\n#error there\n#endif",
        '#define ASKS __has_ ## include\n#define ASK(x) ASKS(x)\n#if ASK("../outside/secret.h")\n#endif',
        '#if __has_inc\\\nlude("link.h")\n#endif',
        '#define PTO_NPU_ARCH_A5 1\n#include <pto/pto-inst.hpp>\n#if __has_include("../outside/secret.h")\n#endif',
    ],
)
def test_file_outside_of_the_project_is_not_shown(include: str, tmp_path: Path) -> None:
    outside, inside = tmp_path / "outside", tmp_path / "inside"
    for folder in (outside, inside):
        folder.mkdir()
    (outside / "secret.h").write_text("the words of a secret", encoding="utf-8")
    (inside / "link.h").symlink_to(outside / "secret.h")
    with pytest.raises(IncludeError) as error:
        compile_to_ir(include.format(outside=outside), str(inside / "kernel.cpp"), cached=False)
    assert "is outside of the project; name its folder with -I" in str(error.value)
    assert "words" not in str(error.value)


def test_file_of_the_project_or_of_a_named_folder_is_included(tmp_path: Path) -> None:
    for folder in ("other", "project/kernels"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "other" / "far.h").write_text("constexpr int FAR = 1;\n", encoding="utf-8")
    (tmp_path / "project" / "near.h").write_text("constexpr int NEAR = 2;\n", encoding="utf-8")
    (tmp_path / "project" / "pyproject.toml").touch()
    text = '#include <cstdint>\n#include "../near.h"\n#include "far.h"\nextern "C" int sum() { return FAR + NEAR; }'
    name = str(tmp_path / "project" / "kernels" / "kernel.cpp")
    assert "ret i32 3" in compile_to_ir(text, name, includes=[str(tmp_path / "other")], cached=False).text


def test_files_of_the_project_may_be_requested(tmp_path: Path) -> None:
    (tmp_path / "a b$.h").touch()
    text = '#if __has_include("a b$.h") && !__has_include("/no/such.h")\nextern "C" int f() { return 8; }\n#endif'
    assert "ret i32 8" in compile_to_ir(HEAD + text, str(tmp_path / "kernel.cpp"), cached=False).text


def test_files_on_which_an_output_depends() -> None:
    rule = "kernel: a.cpp /b\\ c.hpp \\\n  d$$e\\#f.h\n"
    assert files_of_rule(rule) == ["a.cpp", "/b c.hpp", "d$e#f.h"]


@pytest.mark.parametrize("directive", ["#embed", "%: embed", "# \\\nembed"])
def test_embedded_files_are_not_read(directive: str) -> None:
    with pytest.raises(IncludeError, match="#embed is not read"):
        compiled(f'const unsigned char data[] = {{\n{directive} "/etc/passwd"\n}};')


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ('#pragma GCC dependency "{file}"', "3:24"),
        ('%: pragma clang /* */ dependency "{file}"', "3:34"),
        ('# pragma GCC /*\n*/ depen\\\ndency "{file}"', "1:1"),
        ('_Pragma("GCC dependency \\"{file}\\"")', "1:1"),
        ('#define P(x) _Pragma(#x)\nP(GCC dependency "{file}")', "1:1"),
        ('#define D dependency\n#define P(x) _Pragma(#x)\n#define Q(x) P(x)\nQ(GCC D "{file}")', None),
        ('#define D depen##dency\n#define P(x) _Pragma(#x)\n#define Q(x) P(x)\nQ(GCC D "{file}")', "1:1"),
        (
            '#define C(a, b) a##b\n#define S(x) #x\n#define T(x) S(x)\nC(_Pra, gma)(T(GCC C(depen, dency) "{file}"))',
            None,
        ),
        ('#define C(a, b) a##b\n#define D "GCC dependency"\nC(_, Pragma)(D)', None),
    ],
)
@pytest.mark.parametrize("file", ["/etc/passwd", "/no/such"])
def test_pragma_reveals_nothing_about_a_file(text: str, place: str | None, file: str) -> None:
    with pytest.raises(IncludeError) as error:
        compiled(text.replace("{file}", file))
    message = str(error.value)
    assert message.endswith(": fatal error: #pragma dependency is not read") and "/" not in message
    assert place is None or message.startswith(f"kernel.cpp:{place}:")


@pytest.mark.parametrize("directive", ['%: include "a.hpp"', '#inc\\\nlude "a.hpp"', '#/**/include "a.hpp"'])
@pytest.mark.parametrize("text", ['#embed "/etc/passwd"', '#pragma GCC dependency "/etc/passwd"'])
def test_files_that_only_the_compiler_finds_are_checked(directive: str, text: str, tmp_path: Path) -> None:
    (tmp_path / "a.hpp").write_text(f"#if 1\n{text}\n#endif\n", encoding="utf-8")
    with pytest.raises(IncludeError, match="is not read"):
        compile_to_ir(
            f'{HEAD}{directive}\nextern "C" int f() {{ return 8; }}', str(tmp_path / "kernel.cpp"), cached=False
        )


def test_dependency_may_be_part_of_comments_and_names() -> None:
    text = '#pragma once // no dependency\n_Pragma("clang diagnostic push")\nextern "C" int dependency() { return 3; }'
    assert "ret i32 3" in compiled(text)


def test_macros_may_paste_and_make_other_pragmas() -> None:
    text = "#define C(a, b) a##b\n#define P(x) _Pragma(#x)\nP(clang diagnostic push)\n"
    assert "ret i32 4" in compiled(text + 'extern "C" int C(f, 1)() { return 4; }')


@pytest.mark.parametrize("before", ["", "#define ASK __has_embed\n", "#define CAT(a, b) a##b\n"])
def test_no_kernel_embeds_files(before: str) -> None:
    name = "ASK" if "ASK" in before else "CAT(__has_, embed)" if before else "__has_embed"
    found = [message(f'{before}#if {name}("{file}")\n#endif') for file in ("/etc/passwd", "/no/such")]
    assert found[0] == found[1] and "error: function-like macro '__has_embed' is not defined" in found[0]


def test_definition_of_an_option_includes_no_file_outside() -> None:
    with pytest.raises(IncludeError, match="outside of the project"):
        compile_to_ir('#if ASK("/etc/passwd")\n#endif', "kernel.cpp", defines=["ASK=__has_include"], cached=False)
