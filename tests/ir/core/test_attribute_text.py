"""Text of attributes and types: every one is read back as the same attribute, in the spelling of mlir-opt."""

import math
import struct

import pytest
from groups import in_groups
from hypothesis import example, given
from hypothesis import strategies as st
from parse_helpers import parsed
from xdsl.dialects import builtin
from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseArrayBase,
    DictionaryAttr,
    FloatAttr,
    IntegerAttr,
    IntegerType,
)
from xdsl.ir import Attribute

from pto_dialect.ir.core import types as t
from pto_dialect.ir.core.attribute_text import (
    attribute_text,
    dictionary_text,
    string_literal,
    symbol_name,
    text_bytes,
)
from pto_dialect.ir.core.attributes import ENUMS, OpaqueAttr, enum_attr
from pto_dialect.ir.core.float_text import float_bits, float_text
from pto_dialect.syntax.compare import same_attribute
from pto_dialect.syntax.print.printer import print_module
from pto_dialect.syntax.types.parser import parse_type

F16, BF16, F32, F64 = builtin.f16, builtin.bf16, builtin.f32, builtin.f64
F8 = builtin.Float8E4M3FNType()


def read_back(attr: Attribute) -> Attribute:
    """The attribute that the text of a dictionary with ``attr`` in it gives."""
    module, found = parsed(f'"test.op"() {{a = {attribute_text(attr)}}} : () -> ()')
    assert module is not None and [entry[0] for entry in found] == ["dialect-unregistered"], (
        attribute_text(attr),
        found,
    )
    (op,) = module.body.ops
    return op.attributes["a"]


# ---------------------------------------------------------------- numbers


@in_groups(
    ("value", "type_", "text"),
    [
        # What mlir-opt prints for these values.
        (0.0, F32, "0.000000e+00"),
        (-0.0, F64, "-0.000000e+00"),
        (1.0, F16, "1.000000e+00"),
        (0.1, F64, "1.000000e-01"),
        (0.1, F32, "1.000000e-01"),
        (3.14159274101257324, F32, "3.14159274"),
        (3.14159265358979, F64, "3.14159265358979"),
        (2.0**-9, F16, "1.953130e-03"),
        (2.0**-9, F32, "0.001953125"),
        (65504.0, F16, "6.550400e+04"),
        (5.9604644775390625e-08, F16, "5.960460e-08"),
        (1.17549435e-38, F32, "1.17549435E-38"),
        (3.4028234663852886e38, F32, "3.40282347E+38"),
        (123456789.0, F32, "0x4CEB79A3"),
        (1234567.0, F64, "0x4132D68700000000"),
        (12345678.9, F64, "12345678.9"),
        (0.0001234567, F64, "1.234567E-4"),
        (0.00001234567, F64, "1.2345670000000001E-5"),
        (1.234567e11, F64, "1.234567E+11"),
        (2.2250738585072014e-308, F64, "2.2250738585072014E-308"),
        (5e-324, F64, "4.940660e-324"),
        (1e300, F64, "1.000000e+300"),
        (math.inf, F32, "0x7F800000"),
        (-math.inf, BF16, "0xFF80"),
        (-math.inf, F64, "0xFFF0000000000000"),
        (math.nan, F16, "0x7E00"),
        (math.nan, F8, "0x7F"),
        (448.0, F8, "4.480000e+02"),
        (0.3125, F8, "3.125000e-01"),
    ],
)
def test_float_spelling(value: float, type_: builtin.AnyFloat, text: str) -> None:
    assert float_text(FloatAttr(value, type_).value.data, type_) == text


def bits_of(width: int) -> st.SearchStrategy[int]:
    return st.integers(0, (1 << width) - 1)


@given(bits_of(64))
@example(0x7FF8000000000000)
@example(0x0000000000000001)
@example(0x7FEFFFFFFFFFFFFF)
def test_every_double_is_read_back(bits: int) -> None:
    value = struct.unpack("<d", struct.pack("<Q", bits))[0]
    assert same_attribute(read_back(FloatAttr(value, F64)), FloatAttr(value, F64))


@given(bits_of(32))
@example(0x00000001)
@example(0x7F7FFFFF)
@example(0x4B800000)
def test_every_single_is_read_back(bits: int) -> None:
    value = struct.unpack("<f", struct.pack("<I", bits))[0]
    assert same_attribute(read_back(FloatAttr(value, F32)), FloatAttr(value, F32))


@pytest.mark.parametrize("type_", [F16, BF16, F8, builtin.Float8E5M2Type(), builtin.Float8E4M3Type()])
def test_small_formats_are_read_back(type_: builtin.AnyFloat) -> None:
    step = 1 if type_.bitwidth == 8 else 97
    for bits in range(0, 1 << type_.bitwidth, step):
        if isinstance(type_, builtin.BFloat16Type):
            value = struct.unpack("<f", struct.pack("<I", bits << 16))[0]
        else:
            value = type_.unpack(bits.to_bytes(type_.bitwidth // 8, "little"), 1)[0]
        attr = FloatAttr(value, type_)
        if not math.isnan(value):
            assert float_bits(attr.value.data, type_) == bits
        assert same_attribute(read_back(attr), attr)


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("1.0e40 : f32", "0x7F800000 : f32"),
        ("-1.0e6 : f16", "0xFC00 : f16"),
        ("dense<[1.0e40, 0xFF800000]> : vector<2xf32>", "dense<[0x7F800000, 0xFF800000]> : vector<2xf32>"),
        ("dense<1.0e6> : vector<2xf16>", "dense<0x7C00> : vector<2xf16>"),
    ],
)
def test_literals_too_large_for_their_type_are_infinite(text: str, printed: str) -> None:
    module, _ = parsed(f'"test.op"() {{a = {text}}} : () -> ()')
    assert module is not None
    assert f"{{a = {printed}}}" in print_module(module)


@given(st.sampled_from([1, 2, 4, 8, 16, 32, 64]), st.sampled_from(list(builtin.Signedness)), st.data())
def test_integers_are_read_back(width: int, sign: builtin.Signedness, data: st.DataObject) -> None:
    low = 0 if sign is builtin.Signedness.UNSIGNED else -(1 << (width - 1))
    high = (1 << width) - 1 if sign is builtin.Signedness.UNSIGNED else (1 << (width - 1)) - 1
    attr = IntegerAttr(data.draw(st.integers(low, high)), IntegerType(width, sign))
    assert read_back(attr) == attr


@in_groups(
    ("attr", "text"),
    [
        (IntegerAttr(1, 1), "true"),
        (IntegerAttr(0, 1), "false"),
        (IntegerAttr(-3, 64), "-3 : i64"),
        (IntegerAttr(3, builtin.IndexType()), "3 : index"),
        (IntegerAttr(200, IntegerType(8, builtin.Signedness.UNSIGNED)), "200 : ui8"),
        (
            ArrayAttr([IntegerAttr(1, 64), IntegerAttr(2, 32), FloatAttr(1.0, F64)]),
            "[1, 2 : i32, 1.000000e+00]",
        ),
        (ArrayAttr([FloatAttr(math.inf, F64)]), "[0x7FF0000000000000 : f64]"),
        (ArrayAttr([builtin.UnitAttr(), builtin.StringAttr("a")]), '[unit, "a"]'),
        (DenseArrayBase.from_list(builtin.i32, [1, -2]), "array<i32: 1, -2>"),
        (DenseArrayBase.from_list(builtin.i1, [1, 0]), "array<i1: true, false>"),
        (DenseArrayBase.from_list(F32, [0.5, math.inf]), "array<f32: 5.000000e-01, 0x7F800000>"),
        (DenseArrayBase.from_list(builtin.i64, []), "array<i64>"),
        (builtin.SymbolRefAttr("f", ["g", "h i"]), '@f::@g::@"h i"'),
        (builtin.StridedLayoutAttr([None, 1], None), "strided<[?, 1], offset: ?>"),
        (builtin.StridedLayoutAttr([4, 1]), "strided<[4, 1]>"),
        (enum_attr("pipe", "PIPE_V"), "#pto.pipe<PIPE_V>"),
        (enum_attr("cmp", "gt"), "#pto<cmp gt>"),
        (OpaqueAttr("#other.thing<1>"), "#other.thing<1>"),
        (parse_type("(i32, f32) -> (i1, i1)"), "(i32, f32) -> (i1, i1)"),
        (DictionaryAttr({"b": builtin.UnitAttr(), "a": IntegerAttr(1, 32)}), "{a = 1 : i32, b}"),
    ],
)
def test_attribute_spelling(attr: Attribute, text: str) -> None:
    assert attribute_text(attr) == text
    assert same_attribute(read_back(attr), attr)


@in_groups("kind", sorted(ENUMS))
def test_every_enumerator_is_read_back(kind: str) -> None:
    for value in ENUMS[kind].values:
        assert read_back(enum_attr(kind, value)) is enum_attr(kind, value)


def dense(type_: str, values: list[int] | list[float]) -> Attribute:
    return builtin.DenseIntOrFPElementsAttr.from_list(parse_type(type_), values)  # pyright: ignore


@pytest.mark.parametrize(
    ("attr", "text"),
    [
        (dense("vector<2xi32>", [1, -1]), "dense<[1, -1]> : vector<2xi32>"),
        (dense("vector<3xf32>", [0.5, 0.5, 0.5]), "dense<5.000000e-01> : vector<3xf32>"),
        (dense("vector<2xf32>", [0.0, -0.0]), "dense<[0.000000e+00, -0.000000e+00]> : vector<2xf32>"),
        (dense("vector<2xf32>", [math.inf, 1.0]), "dense<[0x7F800000, 1.000000e+00]> : vector<2xf32>"),
        (dense("tensor<2x2xi8>", [1, 2, 3, 4]), "dense<[[1, 2], [3, 4]]> : tensor<2x2xi8>"),
        (dense("tensor<1x3xi8>", [1, 2, 3]), "dense<[[1, 2, 3]]> : tensor<1x3xi8>"),
        (dense("vector<2xi1>", [1, 0]), "dense<[true, false]> : vector<2xi1>"),
        (dense("vector<2xi1>", [1, 1]), "dense<true> : vector<2xi1>"),
        (dense("tensor<0xf32>", []), "dense<> : tensor<0xf32>"),
        (dense("vector<2xui8>", [200, 1]), "dense<[200, 1]> : vector<2xui8>"),
        (dense("tensor<2xindex>", [7, 1]), "dense<[7, 1]> : tensor<2xindex>"),
    ],
)
def test_dense_spelling(attr: Attribute, text: str) -> None:
    assert attribute_text(attr) == text
    assert read_back(attr) == attr


@given(st.lists(st.floats(width=32, allow_nan=False), min_size=1, max_size=6))
def test_dense_floats_are_read_back(values: list[float]) -> None:
    attr = dense(f"vector<{len(values)}xf32>", values)
    assert read_back(attr) == attr


@pytest.mark.parametrize("text", ["dense<300> : vector<2xi8>", "array<i8: 300>", "dense<[1, x]> : vector<2xi8>"])
def test_elements_that_do_not_fit_are_errors(text: str) -> None:
    _, found = parsed(f'"test.op"() {{a = {text}}} : () -> ()')
    assert "literal-type" in [entry[0] for entry in found]


# ---------------------------------------------------------------- strings, symbols, keys


@pytest.mark.parametrize(
    ("text", "literal"),
    [
        ("", '""'),
        ("plain text ~!", '"plain text ~!"'),
        ('a"b', '"a\\22b"'),
        ("a\\b", '"a\\\\b"'),
        ("a\nb\tc", '"a\\0Ab\\09c"'),
        ("é€", '"\\C3\\A9\\E2\\82\\AC"'),
        ("\x00\x7f", '"\\00\\7F"'),
    ],
)
def test_string_spelling(text: str, literal: str) -> None:
    assert string_literal(text) == literal


@given(st.binary(max_size=30))
def test_bytes_in_escapes_are_read_and_written_as_they_are(content: bytes) -> None:
    literal = "".join(f"\\{byte:02X}" for byte in content)
    module, found = parsed(f'module attributes {{a = "{literal}", "b{literal}" = @"c{literal}"}} {{}}')
    assert not found
    assert text_bytes(module.attributes["a"].data) == content
    once = print_module(module)
    assert print_module(parsed(once)[0]) == once
    assert string_literal(content.decode(errors="surrogateescape")) in once


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=30))
def test_every_string_is_read_back(text: str) -> None:
    assert read_back(builtin.StringAttr(text)) == builtin.StringAttr(text)


@given(st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=10))
@example("f")
@example("a.b$c")
@example("1f")
def test_every_symbol_is_read_back(name: str) -> None:
    attr = builtin.SymbolRefAttr(name, [builtin.StringAttr(name)])
    assert read_back(attr) == attr
    text = f"func.func private {symbol_name(name)}()"
    module, found = parsed(text)
    assert module is not None and found == []
    assert f"  {text}\n" in print_module(module)


KEYS = st.one_of(
    st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8),
    st.sampled_from(
        [
            "a",
            "b",
            "a.b",
            "a-b",
            "pto.kernel",
            "pto.barrier",
            "module",
            "return",
            "call",
            "ins",
            "outs",
            "fp",
            "pre_quant",
            "true",
            "false",
            "i32",
            "si8",
            "index",
            "f32",
            "none",
            "to",
            "step",
            "sizes",
            "offset",
            "loc",
            "dense",
            "array",
            "memref",
            "nz2nd",
            "sat",
            "attributes",
            "private",
            "unit",
            "x0",
            "func.func",
            "cf.br",
            "loop",
        ]
    ),
)


@given(st.dictionaries(KEYS, st.one_of(st.none(), st.integers(-3, 3)), max_size=6))
@example({"i32": None, "i64": None, "index": None})
@example({"true": 1, "ins": None})
def test_every_dictionary_is_read_back(entries: dict[str, int | None]) -> None:
    attr = DictionaryAttr(
        {key: builtin.UnitAttr() if value is None else IntegerAttr(value, 32) for key, value in entries.items()}
    )
    assert read_back(attr) == attr


def test_dictionary_keys_are_sorted_and_quoted_only_where_needed() -> None:
    entries = {
        name: builtin.UnitAttr() for name in ("pto.device-spec", "b", "a", "pto.kernel", "i32", "true", "pto.mad")
    }
    assert dictionary_text(entries) == '{a, b, "i32", "pto.device-spec", pto.kernel, "pto.mad", "true"}'


def attributes() -> st.SearchStrategy[Attribute]:
    leaves = st.one_of(
        st.integers(-9, 9).map(lambda n: IntegerAttr(n, 64)),
        st.integers(-9, 9).map(lambda n: IntegerAttr(n, 32)),
        st.floats(allow_nan=False).map(lambda x: FloatAttr(x, 64)),
        st.floats(width=32, allow_nan=False).map(lambda x: FloatAttr(x, 32)),
        st.text(st.characters(exclude_categories=["Cs"]), max_size=5).map(builtin.StringAttr),
        st.sampled_from(
            [
                builtin.UnitAttr(),
                IntegerAttr(1, 1),
                builtin.SymbolRefAttr("f"),
                enum_attr("pipe", "PIPE_V"),
                enum_attr("cmp", "lt"),
                DenseArrayBase.from_list(builtin.i32, [1, 2]),
                dense("vector<2xi32>", [1, 2]),
                parse_type("f32"),
                parse_type("!pto.ptr<f32, ub>"),
                parse_type("memref<4xf32, #pto.address_space<vec>>"),
                parse_type("(i32) -> f32"),
            ]
        ),
    )
    return st.recursive(
        leaves,
        lambda inner: st.one_of(
            st.lists(inner, max_size=4).map(ArrayAttr),
            st.dictionaries(KEYS, inner, max_size=3).map(DictionaryAttr),
        ),
        max_leaves=8,
    )


@given(attributes())
@example(ArrayAttr([IntegerAttr(1, 32), parse_type("f32"), parse_type("i32"), builtin.StringAttr("x")]))
@example(ArrayAttr([dense("vector<2xi32>", [1, 2]), parse_type("f32")]))
@example(ArrayAttr([parse_type("(i32) -> f32"), parse_type("f32")]))
def test_every_attribute_is_read_back(attr: Attribute) -> None:
    assert same_attribute(read_back(attr), attr)


# ---------------------------------------------------------------- types


TYPE_TEXTS = [
    "index",
    "none",
    "si8",
    "ui64",
    "bf16",
    "tf32",
    "f8E4M3FN",
    "vector<2xf16>",
    "vector<f32>",
    "vector<4x4xi16>",
    "tensor<?x4xf32>",
    "tensor<f32>",
    "memref<f32>",
    "memref<4x?xf32>",
    "memref<4xf32, 3>",
    "memref<4xf32, #pto.address_space<vec>>",
    "memref<4x?xf16, strided<[?, 1], offset: ?>, #pto.address_space<gm>>",
    "memref<4x4xf16, strided<[4, 1]>>",
    "memref<16x!pto.hif8>",
    "() -> ()",
    "(i32) -> f32",
    "(i32, f32) -> (f32, f32)",
    "!llvm.ptr<6>",
    "!llvm.struct<(ptr<1>, i64)>",
    "!pto.ptr<vector<2xbf16>, ub>",
    "!pto.tensor_view<?x16x1xf32>",
    "!pto.partition_tensor_view<16xf16>",
    "!pto.tile<16x16xf32>",
    "!pto.multi_tile_buf<!pto.tile_buf<vec, 16x16xf32, valid=?x8>, count=4>",
    "!pto.vreg<256xui8>",
    "!pto.vreg<64xf32>",
    "!pto.mask<b16>",
    "!pto.align",
    "!pto.pipe",
    "!pto.async_session",
    "!pto.eventid_array<8>",
    "!pto.local_array<2x3xi32>",
    "!pto.struct<i32, !pto.struct<f32, i64>>",
    "!pto.vmi.vreg<128xf32>",
    "!pto.vmi.vreg<128xf32, #pto.vmi.layout<contiguous, lane_stride = 2>>",
    "!pto.vmi.mask<128xpred>",
    "!pto.hif8",
    "!pto.f4E2M1x2",
]


@in_groups("text", TYPE_TEXTS)
def test_type_spelling(text: str) -> None:
    type_ = parse_type(text)
    assert t.type_text(type_) == attribute_text(type_) == text
    assert parse_type(t.type_text(type_)) is type_


ELEMENTS = [parse_type(name) for name in ("f32", "f16", "bf16", "i8", "ui8", "si16", "i32", "f8E5M2", "!pto.hif8")]


@given(
    st.sampled_from(["vec", "mat", "left", "right", "acc", "bias", "scaling"]),
    st.integers(1, 300),
    st.integers(1, 300),
    st.sampled_from(ELEMENTS),
    st.tuples(st.integers(-1, 300), st.integers(-1, 300)),
    st.sampled_from(["row_major", "col_major"]),
    st.sampled_from(["none_box", "row_major", "col_major"]),
    st.sampled_from([32, 512, 1024]),
    st.integers(0, 3),
    st.integers(0, 2),
)
def test_every_tile_type_is_read_back(loc, rows, cols, element, valid, blayout, slayout, fractal, pad, compact) -> None:
    valid = (min(valid[0], rows), min(valid[1], cols))
    type_ = t.TileBufType(loc, rows, cols, element, valid, blayout, slayout, fractal, pad, compact)
    read = parse_type(t.type_text(type_))
    assert read == type_
    assert isinstance(read, t.TileBufType)
    assert (read.rows, read.cols, read.valid_rows, read.valid_cols) == (rows, cols, *valid)
    assert (read.slayout, read.fractal, read.pad, read.compact) == (slayout, fractal, pad, compact)


@given(
    st.lists(st.one_of(st.just(builtin.DYNAMIC_INDEX), st.integers(0, 99)), max_size=4),
    st.sampled_from([*ELEMENTS[:7], parse_type("index")]),
    st.one_of(st.none(), st.just("strided")),
    st.one_of(st.none(), st.integers(0, 9), st.sampled_from(["vec", "gm"])),
)
def test_every_memref_type_is_read_back(dims, element, layout, space) -> None:
    strided = builtin.StridedLayoutAttr([None if d < 0 else d for d in dims], None)
    memory: Attribute = builtin.NoneAttr()
    if isinstance(space, int):
        memory = IntegerAttr(space, 64)
    elif space is not None:
        memory = enum_attr("address_space", space)
    type_ = builtin.MemRefType(element, dims, strided if layout else builtin.NoneAttr(), memory)
    assert parse_type(attribute_text(type_)) == type_
