"""Importing this module has PyPTO run on this toolchain: `import pto_dialect.integrations.pypto.use`."""

from . import install

install()
