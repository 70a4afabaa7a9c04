// The extension with a stub of the editor: what it registers, refuses and starts. `node --test`, called by pytest.
"use strict";

const assert = require("node:assert/strict");
const { execFileSync } = require("node:child_process");
const fs = require("node:fs");
const os = require("node:os");
const path = require("node:path");
const { after, test } = require("node:test");
const { load, Uri } = require("./stub.js");
const { Client } = require("./adapter_client.js");

const FOLDER = path.resolve(__dirname, "../../../tools/vscode");
const PACKAGE = JSON.parse(fs.readFileSync(path.join(FOLDER, "package.json"), "utf8"));
// The command of this checkout, as a user would state it in the settings.
const COMMAND = JSON.parse(process.env.PTO_COMMAND);
const SETTINGS = { server: ["pto-lsp"], command: COMMAND, runArguments: ["--auto"], codeLens: true, inlayHints: true };

const scratch = fs.mkdtempSync(path.join(os.tmpdir(), "pto-vscode-"));
const program = path.join(scratch, "double.pto");
fs.writeFileSync(
  program,
  `module attributes {pto.target_arch = "a5"} {
  func.func @double(%p: !pto.ptr<f32>) attributes {pto.entry} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c16 = arith.constant 16 : index
    %v = pto.make_tensor_view %p, shape = [%c16, %c16], strides = [%c16, %c1] : !pto.tensor_view<16x16xf32>
    %q = pto.partition_view %v, offsets = [%c0, %c0], sizes = [%c16, %c16] : !pto.tensor_view<16x16xf32> -> !pto.partition_tensor_view<16x16xf32>
    %t = pto.alloc_tile : !pto.tile_buf<vec, 16x16xf32>
    pto.tload ins(%q : !pto.partition_tensor_view<16x16xf32>) outs(%t : !pto.tile_buf<vec, 16x16xf32>)
    pto.tadd ins(%t, %t : !pto.tile_buf<vec, 16x16xf32>, !pto.tile_buf<vec, 16x16xf32>) outs(%t : !pto.tile_buf<vec, 16x16xf32>)
    pto.tstore ins(%t : !pto.tile_buf<vec, 16x16xf32>) outs(%q : !pto.partition_tensor_view<16x16xf32>)
    return
  }
}
`,
);
after(() => fs.rmSync(scratch, { recursive: true, force: true }));

async function active(settings = {}) {
  const loaded = load(FOLDER, { ...SETTINGS, ...settings });
  await loaded.extension.activate({ subscriptions: [] });
  return loaded;
}

test("commands and debuggers of the manifest are registered", async () => {
  const { seen } = await active();
  const declared = PACKAGE.contributes.commands.map((one) => one.command);
  assert.deepEqual(Object.keys(seen.commands).sort(), declared.sort());
  for (const one of PACKAGE.contributes.debuggers) {
    assert.ok(seen.factories[one.type] && seen.providers[one.type]);
  }
  assert.equal(PACKAGE.contributes.debuggers.length, Object.keys(seen.factories).length);
  // Names of the server's own commands are taken by the language client.
  assert.deepEqual(declared.filter((name) => ["pto.run", "pto.sanitize", "pto.prove"].includes(name)), []);
});

test("F5 without a configuration debugs the program of the editor", async () => {
  const { seen, vscode } = await active();
  const provider = seen.providers.pto;
  assert.equal(provider.resolveDebugConfiguration(undefined, {}), null);
  for (const [languageId, wanted] of [["pto", "pto"], ["cpp", "pto"], ["python", "pto"], ["markdown", undefined]]) {
    vscode.window.activeTextEditor = { document: { languageId, uri: new Uri(program), isUntitled: false } };
    assert.equal(provider.resolveDebugConfiguration(undefined, {})?.type, wanted);
  }
  const stated = { type: "pto", request: "attach", name: "r", recording: "r.pto-rec" };
  assert.equal(provider.resolveDebugConfiguration(undefined, stated), stated);
  assert.equal(await provider.resolveDebugConfigurationWithSubstitutedVariables(undefined, stated), stated);
  assert.equal(seen.saved, 1);
  const nothing = { type: "pto", request: "attach", name: "r" };
  assert.equal(await provider.resolveDebugConfigurationWithSubstitutedVariables(undefined, nothing), undefined);
  assert.match(seen.errors[0], /needs a recording/);
});

test("breakpoints may be set where the adapter takes them", () => {
  assert.deepEqual(PACKAGE.contributes.breakpoints.map((one) => one.language), ["pto", "cpp", "python"]);
});

test("the started adapter stops at a breakpoint, and at an attached recording", async () => {
  const { seen } = await active();
  const { command, args } = seen.factories.pto.createDebugAdapterDescriptor();
  assert.equal(args.at(-1), "debug-adapter");
  const recording = path.join(scratch, "run.pto-rec");
  const [first, ...words] = COMMAND;
  execFileSync(first, [...words, "run", program, "--auto", "--quiet", "--record", recording]);
  for (const [request, given] of [
    ["launch", { program, args: ["--auto"] }],
    ["attach", { recording }],
  ]) {
    const client = new Client(command, args);
    await client.request("initialize", { adapterID: "pto" });
    const ready = client.event("initialized");
    const launched = await client.request(request, given);
    assert.ok(launched.success, launched.message);
    await ready;
    const set = await client.request("setBreakpoints", { source: { path: program }, breakpoints: [{ line: 10 }] });
    assert.deepEqual(set.body.breakpoints, [{ verified: true, line: 10 }]);
    const stopped = client.event("stopped");
    await client.request("configurationDone");
    const { reason, threadId } = (await stopped).body;
    assert.equal(reason, "breakpoint");
    const { stackFrames } = (await client.request("stackTrace", { threadId })).body;
    assert.equal(stackFrames[0].line, 10);
    const ended = client.ended();
    await client.request("disconnect");
    assert.equal(await ended, 0);
  }
});

test("runs are tasks without a shell; a launch file beside the program comes first", async () => {
  const { seen } = await active();
  await seen.commands["pto.runFile"](new Uri(program));
  await seen.commands["pto.sanitizeFile"](new Uri(program));
  const beside = program.replace(".pto", ".launch.toml");
  fs.writeFileSync(beside, "");
  await seen.commands["pto.runFile"](new Uri(program));
  fs.rmSync(beside);
  const own = COMMAND.slice(1);
  assert.deepEqual(
    seen.tasks.map((task) => task.execution.args),
    [[...own, "run", program, "--auto"], [...own, "run", program, "--auto", "--sanitize"], [...own, "run", beside]],
  );
  assert.ok(seen.tasks.every((task) => task.execution.process === COMMAND[0] && task.matchers === "$pto"));
  assert.equal(PACKAGE.contributes.problemMatchers[0].name, "pto");
  const pattern = new RegExp(PACKAGE.contributes.problemMatchers[0].pattern.regexp);
  assert.deepEqual(pattern.exec("a.pto:3:5: error: no [op-x]").slice(1), ["a.pto", "3", "5", "error", "no [op-x]"]);
});

test("the page of a run is shown under its own policy", async () => {
  const { seen } = await active();
  await seen.commands["pto.reportFile"](new Uri(program));
  assert.deepEqual(seen.errors, []);
  const [panel] = seen.panels;
  assert.match(panel.webview.html, /<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src 'sha256-/);
  assert.deepEqual([panel.options.localResourceRoots, panel.options.enableCommandUris], [[], false]);
  await seen.commands["pto.reportFile"](new Uri(path.join(scratch, "missing.pto")));
  assert.match(seen.errors[0], /Error: .*missing\.pto/);
  assert.equal(seen.panels.length, 1);
  assert.deepEqual(fs.readdirSync(os.tmpdir()).filter((name) => name.startsWith("pto-page-")), []);
});

test("pages that let something in are refused", async () => {
  const { panel, seen } = await active();
  const page = (policy) => `<html><head><meta http-equiv="Content-Security-Policy" content="${policy}"></head></html>`;
  for (const policy of ["script-src 'self'", "default-src 'none'; script-src https://x.example", "default-src 'none'; script-src 'unsafe-eval'", "default-src 'none'; img-src *"]) {
    assert.equal(panel.show("p", page(policy)), undefined, policy);
  }
  assert.equal(panel.show("p", "<html></html>"), undefined);
  assert.equal(panel.show("p", `<html><head></head><body>${page("default-src 'none'")}</body></html>`), undefined);
  assert.equal(seen.panels.length, 0);
  assert.ok(panel.show("p", page("default-src 'none'; img-src data:")));
});

test("an untrusted workspace is checked and nothing of it is run", async () => {
  const { seen, vscode, extension } = await active();
  await extension.deactivate();
  vscode.workspace.isTrusted = false;
  await extension.activate({ subscriptions: [] });
  const [, client] = seen.clients;
  assert.equal(client.options.initializationOptions.codeLens, false);
  assert.ok(client.running);
  for (const name of ["pto.runFile", "pto.sanitizeFile", "pto.reportFile"]) {
    assert.equal(await seen.commands[name](new Uri(program)), undefined);
  }
  assert.equal(seen.providers.pto.resolveDebugConfiguration(undefined, { type: "pto", name: "d" }), undefined);
  assert.deepEqual([seen.tasks, seen.panels, seen.saved], [[], [], 0]);
  assert.equal(seen.errors.length, 4);
  vscode.workspace.isTrusted = true;
  await seen.granted();
  assert.equal(seen.clients.at(-1).options.initializationOptions.codeLens, true);
  const manifest = PACKAGE.capabilities.untrustedWorkspaces;
  assert.equal(manifest.supported, "limited");
  assert.deepEqual(manifest.restrictedConfigurations, ["pto.server", "pto.command"]);
});
