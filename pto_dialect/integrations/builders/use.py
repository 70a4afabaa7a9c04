"""Importing this module has builders run on this package: `import pto_dialect.integrations.builders.use`."""

from . import install_as_wanted

install_as_wanted()
