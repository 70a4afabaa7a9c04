// The parts of the modules vscode and vscode-languageclient that the extension uses, with what it has done to them.
"use strict";

const Module = require("node:module");

class Uri {
  constructor(fsPath, scheme = "file") {
    this.fsPath = fsPath;
    this.scheme = scheme;
  }
}

function disposable() {
  return { dispose() {} };
}

function make(settings) {
  const seen = { commands: {}, errors: [], tasks: [], panels: [], factories: {}, providers: {}, sessions: [], saved: 0, clients: [] };
  const workspace = {
    isTrusted: true,
    getConfiguration: () => ({ ...settings, get: (name) => settings[name] }),
    onDidChangeConfiguration: (then) => ((seen.changed = then), disposable()),
    onDidGrantWorkspaceTrust: (then) => ((seen.granted = then), disposable()),
    saveAll: async () => ++seen.saved,
  };
  const vscode = {
    seen,
    Uri,
    workspace,
    window: {
      activeTextEditor: undefined,
      showErrorMessage: (text) => void seen.errors.push(text),
      withProgress: (_, work) => work({}, { onCancellationRequested: disposable }),
      createWebviewPanel: (type, title, column, options) => {
        const panel = { type, title, column, options, webview: { html: "" } };
        seen.panels.push(panel);
        return panel;
      },
    },
    commands: { registerCommand: (name, work) => ((seen.commands[name] = work), disposable()) },
    debug: {
      registerDebugAdapterDescriptorFactory: (type, factory) => ((seen.factories[type] = factory), disposable()),
      registerDebugConfigurationProvider: (type, provider) => ((seen.providers[type] = provider), disposable()),
      startDebugging: async (_, configuration) => seen.sessions.push(configuration),
    },
    tasks: { executeTask: async (task) => (seen.tasks.push(task), task) },
    DebugAdapterExecutable: class {
      constructor(command, args) {
        Object.assign(this, { command, args });
      }
    },
    ProcessExecution: class {
      constructor(process, args, options) {
        Object.assign(this, { process, args, options });
      }
    },
    Task: class {
      constructor(definition, scope, name, source, execution, matchers) {
        Object.assign(this, { definition, scope, name, source, execution, matchers });
      }
    },
    TaskScope: { Workspace: 2 },
    ViewColumn: { Beside: -2 },
    ProgressLocation: { Notification: 15 },
  };
  const node = {
    LanguageClient: class {
      constructor(id, name, server, options) {
        Object.assign(this, { server, options, notes: [] });
        seen.clients.push(this);
      }
      async start() {
        this.running = true;
      }
      async stop() {
        this.running = false;
      }
      async sendNotification(method, parameters) {
        this.notes.push([method, parameters]);
      }
    },
  };
  return { vscode, "vscode-languageclient/node": node };
}

// Loads the extension anew, with these modules instead of those of the editor.
function load(folder, settings) {
  const modules = make(settings);
  const original = Module._load;
  Module._load = (request, ...rest) => modules[request] ?? original(request, ...rest);
  try {
    for (const key of Object.keys(require.cache)) {
      if (key.startsWith(folder)) {
        delete require.cache[key];
      }
    }
    const extension = require(`${folder}/client.js`);
    const panel = require(`${folder}/panel.js`);
    return { extension, panel, vscode: modules.vscode, seen: modules.vscode.seen };
  } finally {
    Module._load = original;
  }
}

module.exports = { load, Uri };
