#!/bin/sh
# Packages the extension as build/pto-dialect.vsix: `make vscode`. The grammar is that of grammar/.
set -e
root=$(cd "$(dirname "$0")/../.." && pwd)
out="$root/build/vscode"
mkdir -p "$out"
cp "$root"/tools/vscode/package.json "$root"/tools/vscode/README.md "$root"/tools/vscode/icon.png "$root/LICENSE" "$out"
cp "$root"/tools/vscode/client.js "$root"/tools/vscode/debugging.js "$root"/tools/vscode/running.js "$root"/tools/vscode/panel.js "$out"
# The place of the repository is known where it is built: a workflow names it.
[ -z "$GITHUB_REPOSITORY" ] || sed -i.bak "s#OWNER/pto-dialect#$GITHUB_REPOSITORY#" "$out/package.json"
cp "$root"/grammar/pto.tmLanguage.json "$root"/grammar/language-configuration.json "$out"
printf '%s\n' 'node_modules/**' 'client.js' 'debugging.js' 'running.js' 'panel.js' 'package.json.bak' 'package-lock.json' > "$out/.vscodeignore"
cd "$out"
npm install --no-audit --no-fund --silent
npx esbuild client.js --bundle --platform=node --target=node18 --external:vscode --minify --outfile=extension.js \
  --log-level=warning
npx vsce package --no-dependencies --out "$root/build/pto-dialect.vsix"
