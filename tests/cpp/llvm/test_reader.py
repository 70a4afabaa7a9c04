"""The reader of LLVM IR: what it makes of a text, of bad texts, and how its time grows."""

from __future__ import annotations

import gc
import random
from time import process_time

import pytest

from pto_dialect.cpp.errors import TranslationError
from pto_dialect.cpp.llvm.model import Constant, Instruction
from pto_dialect.cpp.llvm.reader import Module, read_module
from pto_dialect.cpp.llvm.types import Types
from pto_dialect.cpp.translate import translate_module

TEXT = """
%pair = type { i8, i64, [3 x half] }
@.name = private unnamed_addr constant [6 x i8] c"TADD\\0A\\00", align 1
@letters = linkonce_odr constant { [4 x i8] } { [4 x i8] c"abc\\00" }, comdat, align 1
@table = internal constant [2 x { i16, ptr }] [{ i16, ptr } { i16 -3, ptr @.name }, { i16, ptr } zeroinitializer]

define void @kernel_entry(ptr noundef %out, i32 noundef %0) #0 !dbg !3 {
  %2 = icmp samesign ugt i32 %0, 4, !dbg !7
  br i1 %2, label %then, label %"end.1", !dbg !7

then:                                             ; preds = %1
  %p = getelementptr inbounds nuw %pair, ptr %out, i64 0, i32 2, i64 1, !dbg !8
  %call = tail call noundef float @_Z3fooPKcf(ptr noundef nonnull align 8 dereferenceable(4) @.name, float 2.5e-1) #3
  br label %"end.1"

"end.1":
  %x = phi float [ %call, %then ], [ 0x3FB99999A0000000, %1 ]
  store volatile float %x, ptr %p, align 2
  ret void
}

!llvm.dbg.cu = !{!0}
!0 = distinct !DICompileUnit(language: DW_LANG_C_plus_plus_14, file: !1)
!1 = !DIFile(filename: "k.cpp", directory: "/work")
!2 = !DIFile(filename: "other/h.hpp", directory: "/")
!3 = distinct !DISubprogram(name: "kernel<half, 2>", scope: !1, file: !1, line: 9)
!4 = distinct !DISubprogram(name: "inner", scope: !2, file: !2, line: 2)
!5 = distinct !DILexicalBlock(scope: !4, file: !2, line: 3)
!6 = distinct !DILocation(line: 11, column: 9, scope: !3)
!7 = !DILocation(line: 10, column: 5, scope: !3)
!8 = !DILocation(line: 4, column: 3, scope: !5, inlinedAt: !6)
"""


def instructions(module: Module) -> list[Instruction]:
    """The instructions of the kernel."""
    function = module.function("kernel_entry")
    assert function is not None
    return [instruction for block in function.blocks.values() for instruction in block.instructions]


def test_instructions_have_their_parts() -> None:
    compare, branch, address, call, _, phi, store, _ = instructions(read_module(TEXT))
    assert (compare.opcode, compare.word, compare.flags.strip(), compare.type) == ("icmp", "ugt", "samesign", "i1")
    assert branch.operands == (compare,) and branch.labels == ("then", "end.1")
    assert (address.word, address.operands[2]) == ("%pair", Constant("i32", 2))
    assert (call.word, call.type, call.operands[1]) == ("_Z3fooPKcf", "float", Constant("float", 0.25))
    assert phi.operands[0] is call and phi.labels == ("then", "1")
    assert "volatile" in store.flags and store.operands == (phi, address)


def test_constants_are_read() -> None:
    module = read_module(TEXT)
    call = instructions(module)[3]
    assert module.string(call.operands[0]) == "TADD\n"
    found = module.cells("table")
    assert found is not None
    assert [(offset, getattr(value, "value", value)) for offset, value in found] == [
        (0, -3),
        (8, call.operands[0]),
        (16, 0),
        (24, None),
    ]


def test_debug_locations_have_callers_and_file_names_as_given() -> None:
    module = read_module(TEXT)
    compare, _, address, *_ = instructions(module)
    assert str(module.metadata.location(compare.debug)) == "k.cpp:10:5"
    location = module.metadata.location(address.debug)
    assert location is not None
    assert [(str(frame), frame.function) for frame in location.frames()] == [
        ("//other/h.hpp:4:3", "inner"),
        ("k.cpp:11:9", "kernel<half, 2>"),
    ]


def test_layout_of_types() -> None:
    types = Types()
    types.named["%pair"] = "{ i8, i64, [3 x half] }"
    assert types.size("%pair") == 24
    assert [types.field_offset("%pair", index) for index in range(3)] == [0, 8, 16]
    assert types.size("[2 x %pair]") == 48
    assert types.size("<{ i8, i64 }>") == 9


@pytest.mark.parametrize("seed", range(8))
def test_damaged_texts_give_one_message(seed: int) -> None:
    chance = random.Random(seed)
    lines = TEXT.splitlines()
    for _ in range(60):
        damaged: list[str] = list(lines)
        for _ in range(chance.randint(1, 3)):
            at = chance.randrange(len(damaged))
            match chance.randrange(4):
                case 0:
                    del damaged[at]
                case 1:
                    damaged[at] = damaged[at][: chance.randrange(len(damaged[at]) + 1)]
                case 2:
                    damaged[at] = damaged[at].replace(chance.choice("%@,()[]{} i0"), chance.choice("%@,()[]{} x9"))
                case _:
                    damaged[at], damaged[at - 1] = damaged[at - 1], damaged[at]
        try:
            translate_module([("", "\n".join(damaged))], translate=lambda call, emitter: None)
        except TranslationError as error:
            assert error.message


def test_deep_types_are_refused() -> None:
    type = f"{'[1 x ' * 5000}i8{']' * 5000}"
    text = f"define void @kernel_entry(i64 %i) {{\n  %a = alloca {type}\n  store i8 1, ptr %a\n  ret void\n}}"
    with pytest.raises(TranslationError):
        translate_module([("", text)])


def seconds_of(blocks: int) -> float:
    """The time to translate a function of many blocks and values."""
    lines = ["define void @kernel_entry(ptr %out, i32 %n) {", "entry:", "  br label %b0"]
    for number in range(blocks):
        lines += [
            f"b{number}:",
            f"  %c{number} = icmp sgt i32 %n, {number}",
            f"  br i1 %c{number}, label %t{number}, label %e{number}",
            f"t{number}:",
            f"  %p{number} = getelementptr i32, ptr %out, i64 {number}",
            f"  store i32 {number}, ptr %p{number}",
            f"  br label %e{number}",
            f"e{number}:",
            f"  %x{number} = phi i32 [ 1, %t{number} ], [ 2, %b{number} ]",
            f"  store i32 %x{number}, ptr %out",
            f"  br label %{f'b{number + 1}' if number + 1 < blocks else 'end'}",
        ]
    text = "\n".join([*lines, "end:", "  ret void", "}"])
    gc.freeze()  # Objects of other tests would be collected again and again.
    try:
        start = process_time()
        translate_module([("", text)])
        return process_time() - start
    finally:
        gc.unfreeze()


def test_time_grows_with_the_length() -> None:
    seconds_of(10)
    assert seconds_of(1600) < 24 * max(seconds_of(200), 0.02), "eight times the length"
