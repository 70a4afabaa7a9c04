// Runs of the program in the editor: as a task with its problems, or as a page in a panel.
"use strict";

const { execFile } = require("node:child_process");
const fs = require("node:fs");
const os = require("node:os");
const path = require("node:path");
const vscode = require("vscode");
const panel = require("./panel");

const LONGEST = 10 * 60 * 1000;
const MOST_OUTPUT = 1 << 24;

function fileOf(uri) {
  const chosen = uri ?? vscode.window.activeTextEditor?.document.uri;
  return chosen !== undefined && chosen.scheme === "file" ? chosen.fsPath : undefined;
}

// A launch file beside the program has its arguments; without one they are those of the settings.
function launchFile(file) {
  const beside = file.slice(0, file.length - path.extname(file).length) + ".launch.toml";
  return fs.existsSync(beside) ? beside : undefined;
}

function runWords(file) {
  const beside = launchFile(file);
  return beside !== undefined ? [beside] : [file, ...vscode.workspace.getConfiguration("pto").get("runArguments")];
}

// Each word is a word of the command line: no shell reads them.
function command(...words) {
  const [program, ...args] = vscode.workspace.getConfiguration("pto").get("command");
  return [program, [...args, ...words]];
}

async function saved(uri) {
  const file = fileOf(uri);
  if (file === undefined) {
    vscode.window.showErrorMessage("Save the program in a file first.");
    return undefined;
  }
  if (!vscode.workspace.isTrusted) {
    vscode.window.showErrorMessage("Running a program needs a trusted workspace.");
    return undefined;
  }
  await vscode.workspace.saveAll(false);
  return file;
}

async function run(uri, ...options) {
  const file = await saved(uri);
  if (file === undefined) {
    return undefined;
  }
  const [program, words] = command("run", ...runWords(file), ...options);
  const execution = new vscode.ProcessExecution(program, words, { cwd: path.dirname(file) });
  const kind = { type: "process", task: `pto run ${path.basename(file)}` };
  const task = new vscode.Task(kind, vscode.TaskScope.Workspace, kind.task, "PTO", execution, "$pto");
  return vscode.tasks.executeTask(task);
}

async function report(uri) {
  const file = await saved(uri);
  if (file === undefined) {
    return undefined;
  }
  const folder = await fs.promises.mkdtemp(path.join(os.tmpdir(), "pto-page-"));
  try {
    const page = path.join(folder, "page.html");
    const args = vscode.workspace.getConfiguration("pto").get("runArguments");
    const [program, words] = command("report", file, "-o", page, ...args);
    const where = { location: vscode.ProgressLocation.Notification, title: `pto report ${path.basename(file)}`, cancellable: true };
    const said = await vscode.window.withProgress(where, (_, token) => ended(program, words, path.dirname(file), token));
    if (!fs.existsSync(page)) {
      vscode.window.showErrorMessage(said.split("\n").find((line) => /error: /i.test(line)) ?? "The run left no page.");
      return undefined;
    }
    return panel.show(path.basename(file), await fs.promises.readFile(page, "utf8"));
  } finally {
    await fs.promises.rm(folder, { recursive: true, force: true });
  }
}

// What a program writes; it ends with its window's progress, or after ten minutes.
function ended(program, words, cwd, token) {
  return new Promise((resolve) => {
    const child = execFile(program, words, { cwd, timeout: LONGEST, maxBuffer: MOST_OUTPUT }, (error, out, err) => {
      resolve(error && !out && !err ? `error: ${error.message}` : out + err);
    });
    token?.onCancellationRequested(() => child.kill());
  });
}

function register() {
  return [
    vscode.commands.registerCommand("pto.runFile", (uri) => run(uri)),
    vscode.commands.registerCommand("pto.sanitizeFile", (uri) => run(uri, "--sanitize")),
    vscode.commands.registerCommand("pto.reportFile", report),
  ];
}

module.exports = { register, report, run };
