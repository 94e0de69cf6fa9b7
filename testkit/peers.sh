#!/usr/bin/env bash
# Peers: testkit/peers.sh install|kernels|screens|zig|files|s3|network|security|where|remove. Python programs go into a virtual environment under target/peers;
# what the probe's kernels are checked with comes from Debian, where the machine may be changed.
set -euo pipefail
cd "$(dirname "$0")/.."
venv="${CARGO_TARGET_DIR:-target}/peers/venv"

debian() {
    [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null || return 0
    apt-get update -qq
    DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends "$@"
}

python_with() {
    python3 -c 'import ensurepip' 2>/dev/null || debian python3 python3-venv
    command -v python3 >/dev/null || { echo "python3 is missing: apt-get install python3 python3-venv" >&2; exit 1; }
    [ -x "$venv/bin/python" ] || python3 -m venv "$venv"
    "$venv/bin/pip" install --quiet --disable-pip-version-check --requirement "$1"
}

# OpenCL on the processor runs the kernels; clang-14 wrote their PTX (other versions write other text)
kernels() {
    python_with testkit/requirements-kernels.txt
    if [ ! -e /etc/OpenCL/vendors/pocl.icd ]; then
        debian pocl-opencl-icd ocl-icd-libopencl1
        debian clang-14 || echo "no clang-14 here: the PTX is not compared"
    fi
}

# a real S3 server that keeps buckets as folders
s3() {
    local root="${CARGO_TARGET_DIR:-target}/peers"
    [ -x "$root/bin/s3s-fs" ] && return 0
    # not into the target folder of lessee itself
    CARGO_PROFILE_DEV_DEBUG=0 CARGO_PROFILE_DEV_OPT_LEVEL=2 CARGO_TARGET_DIR="$root/build" cargo install --quiet --locked --debug --root "$root" \
        --version 0.14.1 --features binary s3s-fs
    rm -rf "$root/build"
}

# what round trips are held against, and what stands between: ping, TLS, an HTTP and a SOCKS5 proxy; ip and chrt for the links
network() {
    local missing=0 program
    for program in ip chrt ping openssl tinyproxy microsocks; do
        command -v "$program" >/dev/null || [ -x "/usr/sbin/$program" ] || missing=1
    done
    [ "$missing" = 0 ] || debian iproute2 util-linux iputils-ping openssl tinyproxy-bin microsocks
}

# what the security checks look at: web and SSH servers, certificates, LUKS headers, bucket settings
security() {
    debian nginx-light openssl openssh-server openssh-client cryptsetup-bin
    python_with testkit/requirements-security.txt
}

# tesseract reads screenshots, which the tests draw with the letters of DejaVu Sans Mono
screens() {
    command -v tesseract >/dev/null && [ -e /usr/share/fonts/truetype/dejavu/DejaVuSansMono.ttf ] && return 0
    debian tesseract-ocr fonts-dejavu-core
}

case "${1:-}" in
install)
    python_with testkit/requirements.txt
    kernels
    python_with testkit/requirements-files.txt
    s3
    network
    security
    screens
    ;;
network) network ;;
kernels) kernels ;;
files) python_with testkit/requirements-files.txt ;;
s3) s3 ;;
security) security ;;
screens) screens ;;
zig) python_with testkit/requirements-zig.txt ;;
where) echo "$venv/bin/python" ;;
remove) rm -rf "$venv" ;;
*)
    echo "usage: testkit/peers.sh install|kernels|screens|zig|files|s3|network|security|where|remove" >&2
    exit 2
    ;;
esac
