"""Which directories of the checkout become which packages, the parse tables, and how an editable installation finds the
packages; everything else is in pyproject.toml.

`tools/` and `grammar/` stand beside the package and are installed inside it.
"""

import os
import re
import sys
from pathlib import Path
from typing import Any

from setuptools import find_packages, setup
from setuptools.command.build_py import build_py

try:
    from setuptools.command.editable_wheel import _TopLevelFinder, editable_wheel
except ImportError:
    # The finder of setuptools does the same.
    _TopLevelFinder = editable_wheel = None

HERE = Path(__file__).resolve().parent
INSTALLED_INSIDE = {
    "pto_dialect.grammar": "grammar",
    "pto_dialect.tools": "tools",
    "pto_dialect.tools.server": "tools/server",
}


def documentation() -> list[Path]:
    """The pages that `--explain` prints; the page of all rules is left out, whose parts it makes itself."""
    return sorted(page for page in (HERE / "docs").rglob("*.md") if page.name != "rules.md")


class BuildWithTables(build_py):
    """Adds the pages of the documentation, and the parse tables, which the first start after an installation would have
    to build otherwise."""

    def run(self) -> None:
        super().run()
        if self.editable_mode:
            return
        self.copy_documentation(Path(self.build_lib) / "pto_dialect" / "documentation")
        sys.path.insert(0, str(HERE))
        try:
            from pto_dialect.syntax.read.grammar import package_tables
        except ImportError as error:
            # Without build isolation Lark may be missing; the tables are a matter of speed only.
            self.warn(f"no parse tables are packaged: {error}")
        else:
            package_tables(Path(self.build_lib) / "pto_dialect" / "grammar")
        finally:
            sys.path.remove(str(HERE))

    def get_source_files(self) -> list[str]:
        """The pages belong to source distributions, too."""
        return [*super().get_source_files(), *(str(page.relative_to(HERE)) for page in documentation())]

    def copy_documentation(self, folder: Path) -> None:
        for page in documentation():
            copied = folder / page.relative_to(HERE / "docs")
            copied.parent.mkdir(parents=True, exist_ok=True)
            self.copy_file(str(page), str(copied))


FINDER = '''"""Finds the packages of a checkout."""

import sys
from _frozen_importlib_external import spec_from_file_location

PLACES = {places!r}


class Finder:
    @staticmethod
    def find_spec(name, path=None, target=None):
        place = PLACES.get(name)
        if place is None:
            return None
        return spec_from_file_location(name, place + "/__init__.py", submodule_search_locations=[place])


def install():
    if Finder not in sys.meta_path:
        sys.meta_path.append(Finder)
'''
"""Every start of Python in an environment with an editable installation imports its finder; that of setuptools imports
`pathlib` and `importlib.util`, which takes as long as the rest of the start."""

COMMANDS: dict[str, Any] = {"build_py": BuildWithTables}

if _TopLevelFinder is not None and editable_wheel is not None:

    class QuickFinder(_TopLevelFinder):
        def get_implementation(self):
            outside = {name: HERE / folder for name, folder in INSTALLED_INSIDE.items() if name.count(".") == 1}
            places = {name: str(place) for name, place in {"pto_dialect": HERE / "pto_dialect", **outside}.items()}
            for name, content in super().get_implementation():
                yield name, FINDER.format(places=places).encode() if name.endswith(".py") else content

    class EditableWheel(editable_wheel):
        def _select_strategy(self, *given, **named):
            strategy = super()._select_strategy(*given, **named)  # pyright: ignore[reportAttributeAccessIssue]
            return QuickFinder(strategy.dist, strategy.name) if type(strategy) is _TopLevelFinder else strategy

    COMMANDS["editable_wheel"] = EditableWheel

REPOSITORY = os.environ.get("GITHUB_REPOSITORY", "")
"""``OWNER/NAME``, which a workflow knows. A package that is built elsewhere states no addresses."""


def project_urls() -> dict[str, str]:
    """The addresses of the project."""
    if re.fullmatch(r"[\w.-]+/[\w.-]+", REPOSITORY) is None:
        return {}
    home = f"https://github.com/{REPOSITORY}"
    return {
        "Homepage": home,
        "Documentation": f"{home}/tree/main/docs",
        "Changelog": f"{home}/blob/main/CHANGELOG.md",
        "Issues": f"{home}/issues",
        "Source": home,
    }


def description() -> str:
    """README.md, whose links to files are absolute where the address is known: a package index has no other files."""
    text = (HERE / "README.md").read_text(encoding="utf-8")
    home = project_urls().get("Homepage")
    if home is None:
        return text
    tag = os.environ.get("GITHUB_REF_NAME", "main") if os.environ.get("GITHUB_REF_TYPE") == "tag" else "main"
    return re.sub(r"\]\((?!https?:|#)([^()\s]+)\)", rf"]({home}/blob/{tag}/\1)", text)


setup(
    long_description=description(),
    long_description_content_type="text/markdown",
    project_urls=project_urls(),
    packages=[*find_packages(include=["pto_dialect", "pto_dialect.*"]), *INSTALLED_INSIDE],
    package_dir=INSTALLED_INSIDE,
    cmdclass=COMMANDS,
)
