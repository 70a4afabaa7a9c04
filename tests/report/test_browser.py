"""Pages in a real browser: every part, its numbers, both themes, narrow windows, keys. Source:
docs/report.md, "What is in the page"."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from browser_pages import PARTS, Shown, browser
from read_pages import ROOT, page

from pto_dialect.analysis.cycles.table import shipped

FAULTY = ROOT / "examples" / "faulty"
SIDE = 32

GEMM = f"""
!left = !pto.tile_buf<mat, {SIDE}x{SIDE}xf16, blayout=col_major, slayout=row_major>
!a = !pto.tile_buf<left, {SIDE}x{SIDE}xf16, blayout=col_major, slayout=row_major>
!b = !pto.tile_buf<right, {SIDE}x{SIDE}xf16, blayout=row_major, slayout=col_major>
!acc = !pto.tile_buf<acc, {SIDE}x{SIDE}xf32, blayout=col_major, slayout=row_major, fractal=1024>
!view = !pto.partition_tensor_view<{SIDE}x{SIDE}xf16>
module attributes {{pto.target_arch = "a5"}} {{
  func.func @gemm(%a: !pto.ptr<f16>, %b: !pto.ptr<f16>, %c: !pto.ptr<f32>) attributes {{pto.kernel}} {{
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %n = arith.constant {SIDE} : index
    %va = pto.make_tensor_view %a, shape = [%n, %n], strides = [%n, %c1] : !pto.tensor_view<?x?xf16>
    %vb = pto.make_tensor_view %b, shape = [%n, %n], strides = [%n, %c1] : !pto.tensor_view<?x?xf16>
    %vc = pto.make_tensor_view %c, shape = [%n, %n], strides = [%n, %c1] : !pto.tensor_view<?x?xf32>
    %pa = pto.partition_view %va, offsets = [%c0, %c0], sizes = [%n, %n] : !pto.tensor_view<?x?xf16> -> !view
    %pb = pto.partition_view %vb, offsets = [%c0, %c0], sizes = [%n, %n] : !pto.tensor_view<?x?xf16> -> !view
    %pc = pto.partition_view %vc, offsets = [%c0, %c0], sizes = [%n, %n]
      : !pto.tensor_view<?x?xf32> -> !pto.partition_tensor_view<{SIDE}x{SIDE}xf32>
    %al = pto.alloc_tile : !left
    %bl = pto.alloc_tile : !left
    %a0 = pto.alloc_tile : !a
    %b0 = pto.alloc_tile : !b
    %acc = pto.alloc_tile : !acc
    pto.tload ins(%pa : !view) outs(%al : !left)
    pto.tload ins(%pb : !view) outs(%bl : !left)
    pto.tmov ins(%al : !left) outs(%a0 : !a)
    pto.tmov ins(%bl : !left) outs(%b0 : !b)
    pto.tmatmul ins(%a0, %b0 : !a, !b)
      outs(%acc : !acc)
    pto.tstore ins(%acc : !acc) outs(%pc : !pto.partition_tensor_view<{SIDE}x{SIDE}xf32>)
    return
  }}
}}
"""


TURNED = f"!turned = !pto.tile_buf<mat, {SIDE}x{SIDE}xf16, blayout=row_major, slayout=col_major>\n!view ="


@pytest.fixture(scope="module")
def chrome() -> Iterator[Any]:
    with browser() as one:
        yield one


Product = tuple[Shown, np.ndarray, np.ndarray]


@pytest.fixture(scope="module")
def product(chrome: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Product]:
    """A product of two matrices, one with a NaN."""
    folder = tmp_path_factory.mktemp("product")
    random = np.random.default_rng(3)
    a, b = (random.normal(size=(SIDE, SIDE)).astype(np.float16) for _ in range(2))
    a[3, 5] = np.nan
    np.save(folder / "a.npy", a)
    np.save(folder / "b.npy", b)
    arguments = ("--arg", f"a={folder}/a.npy", "--arg", f"b={folder}/b.npy", "--arg", f"c=zeros:f32:{SIDE}x{SIDE}")
    page(folder, GEMM, *arguments)
    with Shown(chrome, folder / "report.html") as shown:
        yield shown, a, b


def faulty(chrome: Any, folder: Path, name: str) -> Shown:
    """The page of an incorrect kernel."""
    page(folder, FAULTY / name, "--arg", "a=ones:f32:16", "--arg", "b=zeros:f32:16", "--sanitize", code=3)
    return Shown(chrome, folder / "report.html")


@pytest.fixture(scope="module")
def race(chrome: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shown]:
    """Two pipes that access the same bytes."""
    with faulty(chrome, tmp_path_factory.mktemp("race"), "race.pto") as shown:
        yield shown


def numbers(shown: Shown) -> np.ndarray:
    """The table of numbers of the tile that is shown."""
    shown.page.evaluate("() => document.querySelectorAll('#part-tiles details').forEach((one) => { one.open = true; })")
    shown.settle()
    rows = shown.page.evaluate(
        "() => [...document.querySelectorAll('#part-tiles details tbody tr')]"
        ".map((row) => [...row.cells].slice(1).map((cell) => cell.textContent))"
    )
    return np.array([[float(cell) for cell in row] for row in rows])


def look_through(shown: Shown) -> None:
    """Every part has something, and nothing complains."""
    for part in PARTS:
        assert len(shown.part(part).inner_text().strip()) > 20, part
    assert shown.said == []


def test_every_part_shows_something(product: Product, race: Shown) -> None:
    for shown in (product[0], race):
        look_through(shown)
        shown.part("timeline")
        assert shown.colours("#part-timeline canvas") > 5


def test_numbers_of_tiles_are_those_of_numpy(product: Product) -> None:
    shown, a, b = product
    shown.part("tiles")
    for name, wanted in ("%al", a), ("%a0", a), ("%b0", b), ("a", a):
        shown.tile(name)
        np.testing.assert_allclose(numbers(shown), wanted.astype(np.float64), rtol=1e-5)
    result = a.astype(np.float32) @ b.astype(np.float32)
    shown.tile("%acc")
    found, finite = numbers(shown), np.isfinite(result)
    assert np.array_equal(np.isfinite(found), finite)
    np.testing.assert_allclose(found[finite], result[finite], rtol=1e-4, atol=1e-4)
    facts = shown.texts("#part-tiles [data-fact]")
    assert f"NaN {SIDE}" in facts and f"elements {(SIDE - 1) * SIDE:,}" in facts
    least = float(next(one for one in facts if one.startswith("min")).split()[1])
    assert least == pytest.approx(float(result[finite].min()), rel=1e-4)


def test_differences_are_those_of_numpy(product: Product) -> None:
    shown = product[0]
    shown.part("tiles")
    shown.tile("c")
    shown.page.click("[aria-label='Next write']")
    shown.page.select_option("select[aria-label='Difference to']", "first")
    shown.page.wait_for_selector("[data-fact='differ']")
    found = numbers(shown)
    shown.page.select_option("select[aria-label='Difference to']", "none")
    shown.page.wait_for_selector("[data-fact='max']")
    # The buffer held zeros before the run.
    assert np.array_equal(found, numbers(shown), equal_nan=True) and np.isnan(found).sum() == SIDE


def pinned(shown: Shown, kept: str, other: str) -> list[str]:
    """The facts of a tile beside another one that was pinned."""
    shown.part("tiles")
    for name in kept, other:
        shown.tile(name)
        shown.settle()
        if name == kept:
            shown.page.click("#part-tiles button:text-is('Pin')")
            shown.page.wait_for_selector("[data-fact='differ']")
    shown.page.wait_for_selector("[data-fact='differ']")
    return shown.texts("#part-tiles [data-fact]")


def test_a_tile_that_is_another_one_transposed_says_so(chrome: Any, tmp_path: Path) -> None:
    random = np.random.default_rng(4)
    for name in "ab":
        np.save(tmp_path / f"{name}.npy", random.integers(-99, 99, size=(SIDE, SIDE)).astype(np.float16))
    # The right operand from a view of its columns, as it would lie transposed.
    strides = "%vb = pto.make_tensor_view %b, shape = [%n, %n], strides = "
    text = GEMM.replace(f"{strides}[%n, %c1]", f"{strides}[%c1, %n] {{layout = #pto.layout<dn>}}")
    text = text.replace("!view =", TURNED).replace("%bl = pto.alloc_tile : !left", "%bl = pto.alloc_tile : !turned")
    text = text.replace("ins(%bl : !left)", "ins(%bl : !turned)").replace("outs(%bl : !left)", "outs(%bl : !turned)")
    files = (f"{tmp_path}/{name}.npy" for name in "ab")
    given = [word for name, file in zip("ab", files, strict=True) for word in ("--arg", f"{name}={file}")]
    page(tmp_path, text, *given, "--arg", f"c=zeros:f32:{SIDE}x{SIDE}")
    with Shown(chrome, tmp_path / "report.html") as shown:
        assert "rows and columns are exchanged" in " ".join(pinned(shown, "b", "%b0"))
        facts = pinned(shown, "a", "%a0")
        assert "differ 0" in facts and "exchanged" not in " ".join(facts)
        assert shown.said == []


def test_an_element_is_found_in_its_fractal(product: Product) -> None:
    shown, a, _ = product
    shown.part("tiles")
    shown.tile("%al")
    shown.settle()
    canvas = shown.page.locator("#part-tiles canvas").first
    canvas.scroll_into_view_if_needed()
    box = canvas.bounding_box()
    size = min(int((box["width"] - 2) // SIDE), 34)
    row, col = 7, 20
    shown.page.mouse.move(box["x"] + 1 + (col + 0.5) * size, box["y"] + 1 + (row + 0.5) * size)
    shown.settle()
    text = shown.page.inner_text("#part-tiles .cell")
    assert f"[{row}, {col}]" in text and f"0x{int(a.view(np.uint16)[row, col]):04x}" in text
    assert "written by pto.tload" in text
    # Columns 16 to 31 are the second column of fractals: 16 columns of all rows lie before, then rows of 16.
    found = re.search(r"byte ([\d,]+)", text)
    assert found is not None
    assert int(found.group(1).replace(",", "")) % (2 * SIDE * SIDE) == 2 * (16 * SIDE + row * 16 + col - 16)


def test_counts_and_work_are_reported(product: Product) -> None:
    shown = product[0].anew()
    assert shown.written("#part-source .count").count("1×") == 6
    roof = shown.part("roofline")
    assert f"{2 * SIDE**3 / 1e3:.1f}k" in roof.inner_text() and roof.locator("circle").count() == 1
    # Two loads from global memory, and a store.
    row = next(one for one in shown.texts("#part-roofline tr") if one.startswith("gm\t"))
    assert row.split("\t")[1:] == ["2", "4 KiB", "1", "4 KiB"]


def test_a_selection_lights_up_everywhere(product: Product) -> None:
    shown = product[0].anew()
    shown.page.click("#part-source button.code:has-text('pto.tmatmul')")
    assert "tmatmul" in shown.page.inner_text(".inspector")
    assert "tmatmul" in shown.page.inner_text(".line.selected")
    shown.page.click(".inspector .chip:has-text('writes %acc')")
    shown.page.wait_for_function("() => document.documentElement.dataset.tile")
    assert shown.page.inner_text("[aria-selected=true]") == "Tiles"
    assert "%acc" in shown.page.locator("select[aria-label='Tile or buffer'] option:checked").inner_text()
    assert "pto.tmatmul" in shown.page.inner_text("#part-tiles .toolbar >> nth=1")


def test_keys_go_along_the_pipe_and_through_the_parts(product: Product) -> None:
    shown = product[0].anew()
    for number, name in ((3, "Memory map"), (5, "Data flow"), (2, "Timeline")):
        shown.page.keyboard.press(str(number))
        assert shown.page.inner_text("[aria-selected=true]") == name
    for key, step in (None, 1), ("ArrowRight", 2), ("]", 4), ("[", 2):
        if key is not None:
            shown.page.keyboard.press(key)
        assert f"step {step} of 6" in shown.page.inner_text(".inspector")
    shown.page.keyboard.press("?")
    assert shown.page.is_visible("dialog")
    shown.page.keyboard.press("Escape")
    assert shown.said == []


def test_a_race_has_its_pictures(race: Shown) -> None:
    assert "1 error" in race.page.inner_text("header.top")
    card = race.part("findings").locator("article")
    assert "race-war" in card.inner_text() and card.locator("canvas").count() == 2
    for number in range(2):
        assert card.locator("canvas").nth(number).evaluate("(one) => one.width") > 100
    assert race.written("#part-source .mark-cell button") == ["✖", "✖"]
    card.locator("button:has-text('On the timeline')").click()
    assert race.page.inner_text("[aria-selected=true]") == "Timeline"


def test_a_run_without_progress_is_reported(chrome: Any, tmp_path: Path) -> None:
    with faulty(chrome, tmp_path, "deadlock.pto") as shown:
        assert "did not end" in shown.page.inner_text("header.top")
        assert "cannot continue" in shown.part("findings").inner_text()
        look_through(shown)


def serious(shown: Shown) -> None:
    """Nothing that axe calls serious, in either theme."""
    for theme in "light", "dark":
        shown.anew(theme=theme)
        assert shown.page.evaluate("() => document.documentElement.dataset.theme") == theme
        for part in PARTS:
            shown.part(part)
        assert shown.complaints() == [], theme


def test_pages_have_no_serious_accessibility_fault(product: Product, race: Shown) -> None:
    serious(product[0])
    serious(race)


def test_lines_that_have_not_run_can_be_read(chrome: Any, tmp_path: Path) -> None:
    text = (FAULTY / "race.pto").read_text(encoding="utf-8").replace("= %i0 to %i3", "= %i3 to %i3")
    page(tmp_path, text, "--arg", "a=ones:f32:16", "--arg", "b=zeros:f32:16", "--cycles")
    with Shown(chrome, tmp_path / "report.html") as shown:
        assert shown.page.locator("#part-source .line.idle").count() > 2
        serious(shown)


def test_the_theme_can_be_switched(race: Shown) -> None:
    race.anew()
    back = "() => getComputedStyle(document.body).backgroundColor"
    before = race.page.evaluate(back)
    race.page.keyboard.press("t")
    assert race.page.evaluate(back) != before
    race.page.click("[aria-label='Dark or light']")
    assert race.page.evaluate(back) == before


def test_narrow_windows_need_no_scrolling_to_the_side(product: Product, race: Shown) -> None:
    for shown in (product[0], race):
        shown.anew(width=360)
        for part in PARTS:
            shown.part(part)
            assert shown.wide() <= 0, part
        assert shown.said == []


THEME = "() => document.documentElement.dataset.theme"
DRAWN_AT_ONCE = """() => {
    window.dispatchEvent(new Event("beforeprint"));
    return [...document.querySelectorAll("#app .panel canvas:not(.uplot canvas)")].map((canvas) => {
        const all = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
        const points = new Uint32Array(all.data.buffer);
        return [canvas.closest(".panel").id, new Set(points).size, Math.round(canvas.getBoundingClientRect().right)];
    });
}"""
"""What is drawn when a page is about to be printed: browsers draw nothing more after that."""


def test_printing_draws_all_parts_at_once_and_light(race: Shown) -> None:
    race.anew()
    before = race.page.evaluate(THEME)
    if before == "light":
        race.page.keyboard.press("t")
    race.page.wait_for_selector("html[data-tile]", state="attached", timeout=60_000)
    drawn = race.page.evaluate(DRAWN_AT_ONCE)
    assert {part.removeprefix("part-") for part, _, _ in drawn} == {"timeline", "memory", "tiles", "findings"}
    assert all(colours > 2 and right <= 720 for _, colours, right in drawn), drawn
    assert race.page.evaluate(THEME) == "light"
    assert all(race.page.is_visible(f"#part-{part}") for part in PARTS)
    assert race.page.evaluate("() => document.querySelector('.lines').scrollWidth") <= 720
    race.page.evaluate("() => window.dispatchEvent(new Event('afterprint'))")
    assert race.page.evaluate(THEME) == "dark"
    if before == "light":
        race.page.keyboard.press("t")
    assert [part for part in PARTS if race.page.is_visible(f"#part-{part}")] == ["source", "findings"]
    assert race.said == []


def test_bytes_that_are_read_while_they_are_overwritten_are_in_use_once(race: Shown) -> None:
    race.anew()
    race.part("memory")
    text = race.page.locator("#part-memory .numbers").inner_text()
    peak, used = (re.search(f"{name} ([0-9,]+)", text) for name in ("highest byte", "most in use"))
    assert peak is not None
    assert used is not None
    assert used[1] == peak[1]


def test_a_page_begins_with_what_limits_the_run(product: Product) -> None:
    shown, _, _ = product
    for width, theme in ((1440, "light"), (390, "dark")):
        shown.anew(width, theme)
        text = shown.page.locator(".limits").inner_text()
        assert text.startswith("Limited by: 1 of 32 cores works; there ")
        box = shown.page.locator(".limiter").bounding_box()
        assert box is not None and 0 < box["y"] < 400 and box["x"] + box["width"] <= width
        # The limit of one core: bytes in a cycle of 1650 MHz.
        limit = shipped("a5").group("move", "gm:l1", "*")["rate"] * 1.65
        assert re.search(rf"GM→L1\s+[0-9.]+ of {limit:.0f} GB/s, [0-9.]+ % busy", text)
        assert shown.page.get_attribute("[role=tab][aria-selected=true]", "id") == "tab-timeline"
        assert shown.wide() <= 0
    assert shown.said == []


def test_a_page_opens_on_its_finding(race: Shown) -> None:
    race.anew()
    assert race.page.get_attribute("[role=tab][aria-selected=true]", "id") == "tab-findings"
    assert race.page.locator(".limits .first-finding").inner_text().startswith("✖ MTE2 of core writes bytes")
    race.part("timeline")
    race.page.click(".first-finding button")
    assert race.page.get_attribute("[role=tab][aria-selected=true]", "id") == "tab-findings"


@pytest.mark.parametrize(("at", "found"), [("992", 1), ("1024", 0), ("0", 0)])
def test_tiles_that_share_bytes_are_a_finding_of_the_page(at: str, found: int, chrome: Any, tmp_path: Path) -> None:
    """A tile on all bytes of another one may be a view of it."""
    text = (FAULTY / "overlap.pto").read_text(encoding="utf-8").replace("arith.constant 992", f"arith.constant {at}")
    page(tmp_path, text, "--auto")
    with Shown(chrome, tmp_path / "report.html") as shown:
        assert shown.page.locator("#part-findings .card.warning").count() == found
        if found:
            assert "%x and %y are in use at the same time on bytes [992, 1,024) of ub" in shown.texts(".card")[0]
            assert shown.page.get_attribute("[role=tab][aria-selected=true]", "id") == "tab-findings"


def test_texts_of_programs_make_no_elements(chrome: Any, tmp_path: Path) -> None:
    hostile = "</script><img src=x onerror=alert(1)><b id=broken>"
    program = f"""// {hostile}
module attributes {{pto.target_arch = "a5"}} {{
  func.func @"{hostile}"(%a: !pto.ptr<f32, gm>) attributes {{pto.kernel}} {{
    return
  }}
}}
"""
    page(tmp_path, program, "--arg", "0=zeros:f32:8", "--entry", hostile)
    with Shown(chrome, tmp_path / "report.html") as shown:
        assert hostile in shown.page.inner_text("h1") and hostile in (shown.page.text_content("#part-source") or "")
        look_through(shown)
        assert shown.page.locator("#broken, img").count() == 0
