#!/bin/sh
# Packages the extension as build/pto-dialect.vsix: `make vscode`. The grammar is that of grammar/.
set -e
root=$(cd "$(dirname "$0")/../.." && pwd)
out="$root/build/vscode"
mkdir -p "$out"
cp "$root"/tools/vscode/package.json "$root"/tools/vscode/client.js "$root"/tools/vscode/README.md "$root/LICENSE" "$out"
cp "$root"/grammar/pto.tmLanguage.json "$root"/grammar/language-configuration.json "$out"
printf '%s\n' 'node_modules/**' 'client.js' 'package-lock.json' > "$out/.vscodeignore"
cd "$out"
npm install --no-audit --no-fund --silent
npx esbuild client.js --bundle --platform=node --target=node18 --external:vscode --minify --outfile=extension.js \
  --log-level=warning
npx vsce package --no-dependencies --allow-missing-repository --out "$root/build/pto-dialect.vsix"
