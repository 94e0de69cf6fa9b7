#!/usr/bin/env bash
# Peers: testkit/peers.sh install|where|remove. Python programs go into a virtual environment under target/peers; what
# the probe's kernels are checked with comes from Debian, where the machine may be changed.
set -euo pipefail
cd "$(dirname "$0")/.."
venv="${CARGO_TARGET_DIR:-target}/peers/venv"

case "${1:-}" in
install)
    command -v python3 >/dev/null || { echo "python3 is missing: apt-get install python3 python3-venv" >&2; exit 1; }
    [ -x "$venv/bin/python" ] || python3 -m venv "$venv"
    "$venv/bin/pip" install --quiet --disable-pip-version-check --requirement testkit/requirements.txt
    # OpenCL on the processor runs the kernels; clang-14 wrote their PTX (other versions write other text)
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null && [ ! -e /etc/OpenCL/vendors/pocl.icd ]; then
        apt-get update -qq
        apt-get install -qq -y --no-install-recommends pocl-opencl-icd ocl-icd-libopencl1
        apt-get install -qq -y --no-install-recommends clang-14 || echo "no clang-14 here: the PTX is not compared"
    fi
    ;;
where) echo "$venv/bin/python" ;;
remove) rm -rf "$venv" ;;
*)
    echo "usage: testkit/peers.sh install|where|remove" >&2
    exit 2
    ;;
esac
