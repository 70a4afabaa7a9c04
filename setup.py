"""Which directories of the checkout become which packages, and the parse tables; everything else is in pyproject.toml.

`tools/` and `grammar/` stand beside the package and are installed inside it.
"""

import sys
from pathlib import Path

from setuptools import find_packages, setup
from setuptools.command.build_py import build_py

HERE = Path(__file__).resolve().parent
INSTALLED_INSIDE = {
    "pto_dialect.grammar": "grammar",
    "pto_dialect.tools": "tools",
    "pto_dialect.tools.server": "tools/server",
}


class BuildWithTables(build_py):
    """Adds the parse tables, which the first start after an installation would have to build otherwise."""

    def run(self) -> None:
        super().run()
        if self.editable_mode:
            return
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


setup(
    packages=[*find_packages(include=["pto_dialect", "pto_dialect.*"]), *INSTALLED_INSIDE],
    package_dir=INSTALLED_INSIDE,
    cmdclass={"build_py": BuildWithTables},
)
