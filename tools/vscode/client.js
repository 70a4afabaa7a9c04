// Starts pto-lsp for .pto files and restarts it when its command changes; runs, pages and the debugger are beside it.
"use strict";

const vscode = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");
const debugging = require("./debugging");
const running = require("./running");

let client;

function settings() {
  const { server, ...rest } = vscode.workspace.getConfiguration("pto");
  // The lenses of the server run programs.
  const lenses = vscode.workspace.isTrusted && rest.codeLens;
  return { target: rest.target, release: rest.release, inlayHints: rest.inlayHints, codeLens: lenses };
}

async function start() {
  const [command, ...args] = vscode.workspace.getConfiguration("pto").get("server");
  client = new LanguageClient(
    "pto",
    "PTO",
    { command, args },
    { documentSelector: [{ language: "pto" }], initializationOptions: settings() },
  );
  try {
    await client.start();
  } catch (error) {
    const help = "pip install 'pto-dialect[lsp]', or name the command in the setting pto.server";
    vscode.window.showErrorMessage(`${command} could not be started (${error.message}): ${help}`);
    client = undefined;
  }
}

async function restart() {
  await deactivate();
  await start();
}

async function activate(context) {
  context.subscriptions.push(
    vscode.commands.registerCommand("pto.restart", restart),
    vscode.workspace.onDidGrantWorkspaceTrust(restart),
    vscode.workspace.onDidChangeConfiguration(async (change) => {
      if (change.affectsConfiguration("pto.server")) {
        await restart();
      } else if (change.affectsConfiguration("pto") && client !== undefined) {
        await client.sendNotification("workspace/didChangeConfiguration", { settings: { pto: settings() } });
      }
    }),
    ...running.register(),
    ...debugging.register(),
  );
  await start();
}

async function deactivate() {
  if (client !== undefined) {
    await client.stop();
    client = undefined;
  }
}

module.exports = { activate, deactivate };
