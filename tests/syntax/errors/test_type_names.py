"""Which type a token was probably meant to be."""

from __future__ import annotations

import pytest
from groups import in_groups

from pto_dialect.syntax.errors.element_names import element_suggestion
from pto_dialect.syntax.errors.type_names import type_suggestion

ELEMENTS = {
    "float": "f32", "fp32": "f32", "Float32": "f32", "single": "f32", "half": "f16", "fp16": "f16", "bfloat16": "bf16",
    "double": "f64", "bool": "i1", "int": "i32", "uint": "ui32", "size_t": "index", "fp8": "f8E4M3FN",
    "int8": "i8", "int16_t": "i16", "INT32": "i32", "int64": "i64", "uint8": "ui8", "uint16_t": "ui16",
    "uint64": "ui64", "u8": "ui8", "u16": "ui16", "u32": "ui32", "s8": "i8", "s32": "i32",
    "int7": None, "uint7": None, "u9": None, "s3": None, "nothing_like_it": None,
}  # fmt: skip


@in_groups("word", ELEMENTS)
def test_number_types(word: str) -> None:
    assert element_suggestion(word) == ELEMENTS[word]


TYPES = {
    "tile_buf": "!pto.tile_buf", "!tile_buf": "!pto.tile_buf", "pto.ptr": "!pto.ptr", "!pto.ptr": "!pto.ptr",
    "ptr": "!pto.ptr", "tile_bufs": "!pto.tile_buf", "!pto.tile_bug": "!pto.tile_buf", "float": "f32", "u8": "ui8",
    "memre": "memref", "pto.float": None, "zzzzzzzz": None,
}  # fmt: skip


@pytest.mark.parametrize("word", TYPES)
def test_types(word: str) -> None:
    assert type_suggestion(word) == TYPES[word]
