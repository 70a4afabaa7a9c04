// The page of a run in a panel. The page is one file with its own policy: its scripts by their hashes, and no network.
"use strict";

const vscode = require("vscode");

const POLICY = /<meta http-equiv="Content-Security-Policy" content="([^"]*)">/;
const REFUSED = /unsafe-eval|https?:|wss?:|\*/;

// The policy of a page, if it lets nothing in from outside.
function policyOf(html) {
  const policy = POLICY.exec(html.slice(0, html.indexOf("</head>")))?.[1];
  const closed = policy !== undefined && /(?:^|;)\s*default-src 'none'/.test(policy) && !REFUSED.test(policy);
  return closed ? policy : undefined;
}

function show(name, html) {
  if (policyOf(html) === undefined) {
    vscode.window.showErrorMessage("This page has no content security policy that keeps it apart, so it is not shown.");
    return undefined;
  }
  const made = vscode.window.createWebviewPanel("pto.report", name, vscode.ViewColumn.Beside, {
    enableScripts: true,
    enableForms: false,
    enableCommandUris: false,
    localResourceRoots: [],
    retainContextWhenHidden: true,
  });
  made.webview.html = html;
  return made;
}

module.exports = { policyOf, show };
