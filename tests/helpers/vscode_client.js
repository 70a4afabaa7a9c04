// A session of the client that Microsoft tests debug adapters with. Arguments: Python, a script that starts the
// adapter, the program, and the options of its run, separated by blanks. Says one line of JSON about what it has seen.
const { DebugClient } = require("@vscode/debugadapter-testsupport");

const [runtime, script, program, options] = process.argv.slice(2);

async function main() {
  const seen = {};
  const client = new DebugClient(runtime, script, "pto");
  client.defaultTimeout = 50000;
  await client.start();
  const initialized = client.waitForEvent("initialized");
  const can = await client.initializeRequest({ adapterID: "pto", linesStartAt1: true, columnsStartAt1: true });
  seen.stepsBack = can.body.supportsStepBack;
  const launched = client.launch({ program, args: options.split(" ") });
  await initialized;
  await launched;
  const source = { path: program };
  const set = await client.setBreakpointsRequest({ source, breakpoints: [{ line: 24, condition: "%i == 1" }] });
  seen.verified = set.body.breakpoints.map((one) => one.verified);
  await client.setExceptionBreakpointsRequest({ filters: [] });
  const [, where] = await Promise.all([
    client.configurationDoneRequest(),
    client.assertStoppedLocation("breakpoint", { path: program, line: 24 }),
  ]);
  const [frame] = where.body.stackFrames;
  seen.frame = frame.name;
  const scopes = (await client.scopesRequest({ frameId: frame.id })).body.scopes;
  const locals = await client.variablesRequest({ variablesReference: scopes[0].variablesReference });
  seen.i = locals.body.variables.find((one) => one.name === "%i").value;
  seen.most = (await client.evaluateRequest({ expression: "max(%x)" })).body.result;
  seen.refused = await client.evaluateRequest({ expression: "1 +" }).then(() => "", (error) => error.message);
  for (const [way, request] of [["forwards", "stepInRequest"], ["backwards", "stepBackRequest"]]) {
    const stopped = client.waitForEvent("stopped");
    await client[request]({ threadId: 1 });
    seen[way] = (await stopped).body.reason;
  }
  const over = client.waitForEvent("stopped");
  await client.setBreakpointsRequest({ source, breakpoints: [] });
  await client.continueRequest({ threadId: 1 });
  seen.over = (await over).body.description;
  const end = client.waitForEvent("terminated");
  await client.continueRequest({ threadId: 1 });
  await end;
  await client.disconnectRequest();
  console.log(JSON.stringify(seen));
  await client.stop();
}

main().catch((error) => {
  console.error(String(error));
  process.exit(1);
});
