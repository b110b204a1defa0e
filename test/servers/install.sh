#!/usr/bin/env bash
# Installs what the tests need and is missing: redis-server, mariadb-server, prometheus, victoria-metrics, compressors for log files, and gcc for the race detector. Silent when nothing is missing.
# A server named by TOOLBOUNDARY_TEST_MYSQL_DSN makes mariadb-server unnecessary.
set -euo pipefail
PATH="$PATH:/usr/sbin:/usr/local/sbin:/opt/homebrew/bin"

have() { command -v "$1" >/dev/null 2>&1; }

packages=()
have redis-server || have valkey-server || packages+=(redis-server)
if [ -z "${TOOLBOUNDARY_TEST_MYSQL_DSN:-}" ]; then
  { have mariadbd && have mariadb-install-db; } || packages+=(mariadb-server)
fi
{ have prometheus && have promtool; } || packages+=(prometheus)
have victoria-metrics || have victoria-metrics-prod || packages+=(victoria-metrics)
have xz || packages+=(xz-utils)
have zstd || packages+=(zstd)
have bzip2 || packages+=(bzip2)
have gcc || have clang || have cc || packages+=(gcc libc6-dev)
[ ${#packages[@]} -eq 0 ] && exit 0

if ! have apt-get; then
  echo "The tests need ${packages[*]} (or what your system calls them; with Homebrew: brew install redis mariadb prometheus victoriametrics). Install them and run this again." >&2
  exit 1
fi
if [ "$(id -u)" -ne 0 ]; then
  echo "The tests need ${packages[*]}, and installing takes root. Run: sudo apt-get update && sudo apt-get install --no-install-recommends ${packages[*]}" >&2
  exit 1
fi

echo "installing ${packages[*]} for the tests ..." >&2
# The packages start their services when installed. The tests start servers of their own, so this policy keeps the packages' ones down; it
# lasts for the installation only and never replaces one that the machine has.
policy=/usr/sbin/policy-rc.d
if [ ! -e "$policy" ]; then
  trap 'rm -f "$policy"' EXIT
  printf '#!/bin/sh\nexit 101\n' >"$policy"
  chmod 755 "$policy"
fi
log=$(mktemp)
export DEBIAN_FRONTEND=noninteractive
if ! { apt-get -o DPkg::Lock::Timeout=300 update &&
  apt-get -o DPkg::Lock::Timeout=300 install -y --no-install-recommends "${packages[@]}"; } >"$log" 2>&1 </dev/null; then
  tail -n 20 "$log" >&2
  echo "apt-get could not install ${packages[*]}; the whole log is in $log" >&2
  exit 1
fi
rm -f "$log"
