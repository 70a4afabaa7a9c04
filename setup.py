"""Which directories of the checkout become which packages; everything else is in pyproject.toml.

`tools/` and `grammar/` stand beside the package and are installed inside it.
"""

from setuptools import find_packages, setup

INSTALLED_INSIDE = {"pto_dialect.grammar": "grammar", "pto_dialect.tools": "tools"}

setup(
    packages=[*find_packages(include=["pto_dialect", "pto_dialect.*"]), *INSTALLED_INSIDE],
    package_dir=INSTALLED_INSIDE,
)
