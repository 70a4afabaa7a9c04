"""The server as a process, and a client of it."""

import sys
from importlib.util import find_spec

COMMAND = [sys.executable, "-m", "tools.pto_lsp"]

if find_spec("pygls") and find_spec("pytest_lsp"):
    import pytest_lsp
    from lsprotocol import types

    @pytest_lsp.fixture(config=pytest_lsp.ClientServerConfig(server_command=COMMAND), scope="module")
    async def client(lsp_client: pytest_lsp.LanguageClient):
        """A client whose server is ready, one for the tests of a module."""
        await lsp_client.initialize_session(
            types.InitializeParams(capabilities=pytest_lsp.client_capabilities("visual-studio-code"))
        )
        yield lsp_client
        await lsp_client.shutdown_session()
