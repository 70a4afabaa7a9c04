"""Pages in a real browser without a window; tests skip where there is none."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
AXE = Path(__file__).parents[1] / "report" / "vendor" / "axe.min.js"
PARTS = ("source", "timeline", "memory", "tiles", "flow", "findings", "roofline")


@contextmanager
def browser() -> Iterator[Any]:
    """A browser of the system; skips where there is none, or nothing to drive it."""
    api = pytest.importorskip("playwright.sync_api", reason="playwright drives the browser (extra test)")
    path = next(filter(None, map(shutil.which, BROWSERS)), None)
    if path is None:
        pytest.skip("there is no Chromium or Chrome here")
    with api.sync_playwright() as driver:
        started = driver.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield started
        started.close()


class Shown:
    """A page that is shown; ``said`` is what it has complained about."""

    def __init__(self, browser: Any, file: Path, width: int = 1400, theme: str = "light") -> None:
        self.page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=theme)
        self.said: list[str] = []
        self.page.on("console", lambda one: self.said.append(one.text) if one.type in ("error", "warning") else None)
        self.page.on("pageerror", lambda one: self.said.append(str(one)))
        self.page.on("request", lambda one: self.said.append(one.url) if one.url.startswith("http") else None)
        self.page.goto(file.resolve().as_uri())
        self.page.wait_for_selector("html[data-ready]", timeout=20_000)

    def __enter__(self) -> Shown:
        return self

    def __exit__(self, *_: object) -> None:
        self.page.close()

    def part(self, name: str) -> Any:
        """Shows a part; what holds it."""
        if self.page.is_visible(f"#tab-{name}"):
            self.page.click(f"#tab-{name}")
        self.settle()
        return self.page.locator(f"#part-{name}")

    def anew(self, width: int = 1400, theme: str = "light") -> Shown:
        """The page as if it had just been opened, in a window of a width and a theme of the system."""
        self.said.clear()
        self.page.set_viewport_size({"width": width, "height": 900})
        self.page.emulate_media(media="screen", color_scheme=theme)
        self.page.reload()
        self.page.wait_for_selector("html[data-ready]", timeout=20_000)
        return self

    def settle(self) -> None:
        """Waits for the next two pictures."""
        self.page.evaluate("() => new Promise((go) => requestAnimationFrame(() => requestAnimationFrame(go)))")

    def texts(self, selector: str) -> list[str]:
        """The texts of elements."""
        return self.page.locator(selector).all_inner_texts()

    def written(self, selector: str) -> list[str]:
        """What is in elements, those that are not drawn yet included: lines far away are drawn when they come."""
        return self.page.locator(selector).all_text_contents()

    def colours(self, selector: str) -> int:
        """Different colours of the points of a canvas."""
        return self.page.locator(selector).first.evaluate(
            """(canvas) => new Set(new Uint32Array(canvas.getContext("2d")
                 .getImageData(0, 0, canvas.width, canvas.height).data.buffer)).size"""
        )

    def tile(self, name: str) -> None:
        """Chooses a tile by the beginning of its name, and waits until it is shown."""
        options = self.page.locator("select[aria-label='Tile or buffer'] option")
        texts = options.all_inner_texts()
        value = options.nth(next(at for at, text in enumerate(texts) if text.startswith(name + " ·"))).get_attribute(
            "value"
        )
        self.page.select_option("select[aria-label='Tile or buffer']", value)
        self.page.wait_for_function("box => document.documentElement.dataset.tile?.startsWith(box + '@')", arg=value)

    def wide(self) -> int:
        """Points by which the page is wider than its window."""
        return self.page.evaluate("() => document.documentElement.scrollWidth - innerWidth")

    def complaints(self) -> list[str]:
        """What axe finds in all parts side by side that is serious or worse, as rule and place."""
        # Past the policy of the page, which lets no other code run.
        session = self.page.context.new_cdp_session(self.page)
        session.send("Runtime.evaluate", {"expression": AXE.read_text(encoding="utf-8")})
        found = self.page.evaluate(
            """() => {
                 for (const panel of document.querySelectorAll(".panel")) panel.classList.add("shown");
                 return axe.run({resultTypes: ["violations"]});
               }"""
        )
        serious = [one for one in found["violations"] if one["impact"] in ("serious", "critical")]
        return [
            f"{one['id']}: {node['target']} {node['failureSummary']}" for one in serious for node in one["nodes"][:3]
        ]
