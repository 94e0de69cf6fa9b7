#!/usr/bin/env bash
# Python peers in a virtual environment under target/peers: testkit/peers.sh install|where|remove
set -euo pipefail
cd "$(dirname "$0")/.."
venv="${CARGO_TARGET_DIR:-target}/peers/venv"

case "${1:-}" in
install)
    command -v python3 >/dev/null || { echo "python3 is missing: apt-get install python3 python3-venv" >&2; exit 1; }
    [ -x "$venv/bin/python" ] || python3 -m venv "$venv"
    "$venv/bin/pip" install --quiet --disable-pip-version-check --requirement testkit/requirements.txt
    ;;
where) echo "$venv/bin/python" ;;
remove) rm -rf "$venv" ;;
*)
    echo "usage: testkit/peers.sh install|where|remove" >&2
    exit 2
    ;;
esac
