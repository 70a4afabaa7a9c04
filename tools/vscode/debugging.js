// The debugger of runs: `pto debug-adapter` over standard input and output.
"use strict";

const vscode = require("vscode");

// Breakpoints may be in the program, in the C++ kernel, or in the file that locations name; all go to the adapter.
const LANGUAGES = ["pto", "cpp", "c", "python"];

function adapter() {
  const [command, ...args] = vscode.workspace.getConfiguration("pto").get("command");
  return new vscode.DebugAdapterExecutable(command, [...args, "debug-adapter"]);
}

function launchOf(file) {
  const args = vscode.workspace.getConfiguration("pto").get("runArguments");
  return { type: "pto", request: "launch", name: "Debug this program", program: file, args, stopOnEntry: true };
}

const configurations = {
  // F5 without a launch.json: the program of the editor.
  resolveDebugConfiguration(_folder, stated) {
    if (!vscode.workspace.isTrusted) {
      vscode.window.showErrorMessage("Debugging runs the program, which this workspace is not trusted to do.");
      return undefined;
    }
    if (stated.type || stated.request || stated.name) {
      return stated;
    }
    const document = vscode.window.activeTextEditor?.document;
    if (document === undefined || !LANGUAGES.includes(document.languageId) || document.isUntitled) {
      return null;
    }
    return launchOf(document.uri.fsPath);
  },

  async resolveDebugConfigurationWithSubstitutedVariables(_folder, stated) {
    const wanted = stated.request === "attach" ? stated.recording : stated.program ?? stated.recording;
    if (!wanted) {
      const what = stated.request === "attach" ? "a recording (pto-run --record RUN.pto-rec)" : "a program";
      vscode.window.showErrorMessage(`The configuration '${stated.name}' names no file: it needs ${what}.`);
      return undefined;
    }
    // What is debugged is the file.
    await vscode.workspace.saveAll(false);
    return stated;
  },

  provideDebugConfigurations() {
    return [launchOf("${file}")];
  },
};

function register() {
  return [
    vscode.debug.registerDebugAdapterDescriptorFactory("pto", { createDebugAdapterDescriptor: adapter }),
    vscode.debug.registerDebugConfigurationProvider("pto", configurations),
    vscode.commands.registerCommand("pto.debugFile", (uri) => {
      const file = (uri ?? vscode.window.activeTextEditor?.document.uri)?.fsPath;
      return file && vscode.debug.startDebugging(undefined, launchOf(file));
    }),
  ];
}

module.exports = { adapter, configurations, register };
