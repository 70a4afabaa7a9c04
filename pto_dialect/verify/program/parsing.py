"""Rules that the parser checks; declared here so that the catalogue lists them."""

from __future__ import annotations

from pto_dialect.nesting import ALIAS_SIZE, ANGLES, LIMIT, RULE, SIZE_RULE

from ..engine.rule import ERROR, INFO, PARSE, WARNING, rule

_LANGUAGE = 'docs/reference/language.md, "Modules and functions"'

for _id, _text in {
    "parse-syntax": "the text follows the grammar",
    "parse-unbalanced": "every brace has its partner",
    "parse-string": "a string ends on its line",
    "parse-character": "only characters of the language stand outside comments and strings",
    RULE: f"regions, attributes and brackets nest at most {LIMIT:,} deep, angle brackets {ANGLES}",
    SIZE_RULE: f"an alias stands for at most {ALIAS_SIZE:,} characters, all uses together for what grows with the text",
    "parse-missing-types": "operations are followed by the types of their operands",
    "parse-missing-token": "required keywords and groups of an operation are given",
    "parse-clause-order": "clauses are in their order",
    "parse-clause-duplicate": "a clause or group is given once",
    "parse-type-count": "there is one type for each typed operand",
    "parse-result-count": "there is one name and one type for each result",
    "parse-operand-count": "the operation has the operands its form demands",
    "op-operand-count": "the operation has its declared number of operands",
    "op-missing-outs": "an operation in destination-passing style names its destination",
    "op-unknown": "operation names exist",
    "operand-type": "a value has the type that is stated for it",
    "name-undefined": "names are defined before they are used",
    "name-redefined": "a name is defined once in each scope",
    "type-syntax": "types are written as the language defines them",
    "type-unknown": "type names exist",
    "type-schematic": "... stands for a type only in documentation",
    "literal-type": "a literal fits its type",
    "literal-range": "a literal is in the range of its type",
    "attr-duplicate": "an attribute is given once",
    "attr-enum": "an enumeration attribute has one of its values",
    "attr-form": "an enumeration attribute is written in its own form",
    "attr-word": "a quoted enumerator is one of those the operation takes",
    "ptr-space": "a pointer names an existing address space",
    "tile-key": "tile_buf options exist and are given once",
    "tile-key-order": "keys of the long tile_buf form are in their order",
    "tile-layout-keyword": "layouts are row_major, col_major or none_box",
    "scf-if-else": "scf.if with results has an else region",
}.items():
    rule(_id, ERROR, PARSE, _text, _LANGUAGE)

rule(
    "op-deprecated",
    WARNING,
    PARSE,
    "operations that the dialect no longer has are replaced",
    'docs/reference/language.md, "Versions"',
)
rule(
    "dialect-unregistered",
    WARNING,
    PARSE,
    "operations of other dialects are kept in generic form and not checked",
    'docs/reference/language.md, "Generic form"',
)
rule(
    "documentation-form",
    WARNING,
    PARSE,
    "with --allow-schematic, what the manual writes otherwise is read as programs say it, or kept and not checked",
    'docs/reference/language.md, "Other names", "Notations of documents"',
)
for _id, _text in {
    "tile-loc-keyword": "loc is vec, mat, left, right, acc, bias or scaling",
    "tile-rank2": "a tile has two positive physical dimensions",
    "tile-fractal": "fractal is 32, 512 or 1024",
    "tile-valid-le-shape": "the static valid region lies inside the tile",
}.items():
    rule(_id, ERROR, PARSE, _text, 'docs/reference/constraints.md, "All tiles"')
rule("vreg-256", ERROR, PARSE, "a vector register holds 256 bytes", 'docs/reference/constraints.md, "Vector registers"')
VMI_LANES = rule(
    "vmi-lanes",
    INFO,
    PARSE,
    "a logical vector has a positive number of lanes (otherwise an error); 1, 2, 4, 8, 64, 128 and 256 are documented",
    'docs/reference/constraints.md, "Logical vectors"',
)
rule(
    "struct-field",
    ERROR,
    PARSE,
    "fields of a struct are integers of 8 to 64 bits, f16, bf16, f32, f64 and structs",
    'docs/reference/language.md, "Types"',
)
rule(
    "vmi-layout",
    ERROR,
    PARSE,
    "a layout has 2 or 4 parts, one lane for each of its groups, positive slots and strides; pred masks have none",
    'docs/reference/language.md, "Attributes"',
)
rule(
    "tile-cmp-mode",
    ERROR,
    PARSE,
    "compare modes are eq, ne, lt, le, gt and ge",
    'docs/reference/constraints.md, "Tile arithmetic"',
)
rule(
    "matmul-phase",
    ERROR,
    PARSE,
    "accPhase is unspecified, partial or final",
    'docs/reference/constraints.md, "Matrix products of tiles"',
)
rule(
    "tstore-atomic", ERROR, PARSE, "atomicType is none, add, max or min", 'docs/reference/constraints.md, "Tile moves"'
)
rule(
    "sync-pipe-token",
    ERROR,
    PARSE,
    "pipes are named by their own names",
    'docs/reference/constraints.md, "Synchronisation rules"',
)
SYNC_FLAG_RANGE = rule(
    "sync-flag-range",
    ERROR,
    PARSE,
    "flags are EVENT_ID0 to EVENT_ID7",
    'docs/reference/constraints.md, "Synchronisation rules"',
)
rule(
    "sync-membar-kind",
    ERROR,
    PARSE,
    "memory barrier kinds exist",
    'docs/reference/constraints.md, "Synchronisation rules"',
)
_VECTOR = 'docs/reference/constraints.md, "Vector registers"'
rule("pat-token", ERROR, PARSE, "predicate patterns exist", _VECTOR)
rule("vlds-dist", ERROR, PARSE, "load distributions exist", _VECTOR)
VSTS_DIST = rule(
    "vsts-dist",
    ERROR,
    PARSE,
    "store distributions exist; the width of NORM and 1PT (warning) is that of the element",
    _VECTOR,
)
rule(
    "x2-dist",
    ERROR,
    PARSE,
    "two registers are loaded with BDINTLV or DINTLV_B8 to B32 and stored with INTLV_B8 to B32",
    _VECTOR,
)
PREDICATE_IMMEDIATE = rule(
    "pld-imm",
    ERROR,
    PARSE,
    "predicates are loaded as NORM, US or DS and stored as NORM or PK; pldi and psti take a constant offset",
    _VECTOR,
)
rule("mask-part", ERROR, PARSE, "a half is LOWER or HIGHER", _VECTOR)
rule("vcmp-mode", ERROR, PARSE, "compare modes are eq, ne, lt, le, gt and ge", _VECTOR)
SPECIAL_REGISTER = rule(
    "sprclr-ar",
    ERROR,
    PARSE,
    "AR is the only special register of vector code, and it is used inside a vector scope",
    _VECTOR,
)
VCVT_CONTRACT_RULE = rule(
    "vcvt-contract",
    ERROR,
    PARSE,
    "a conversion exists and has exactly the rnd, sat and part clauses that it needs",
    'docs/reference/targets.md, "Conversions"',
)
VTRC_FORM = rule("vtrc-form", ERROR, PARSE, "vtrc rounds f16, bf16 and f32 with R, A, F, C or Z", _VECTOR)
VEXPDIF_FORM = rule(
    "vexpdif-form", ERROR, PARSE, "vexpdif takes two registers of f16 or f32, EVEN or ODD, and yields f32", _VECTOR
)
VCI_FORM = rule(
    "vci-form",
    ERROR,
    PARSE,
    "vci yields 8-, 16- or 32-bit integers, f16 or f32, from an index of that type, in order ASC or DESC",
    _VECTOR,
)
VMI_CONVERSION = rule(
    "vmi-cvt",
    ERROR,
    PARSE,
    "a conversion keeps the lanes, exists, and has the rounding and saturation it needs",
    'docs/reference/constraints.md, "Logical vectors"',
)
VMI_MODES = rule(
    "vmi-load-modes",
    ERROR,
    PARSE,
    "dist_mode, group and block_stride exclude each other; a stride comes with group; group stores take no mask",
    'docs/reference/constraints.md, "Logical vectors"',
)
