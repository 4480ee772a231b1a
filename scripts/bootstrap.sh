#!/bin/sh
# Installs the Debian packages that are missing: bootstrap.sh build|test|real|lint ...
#
# Nothing is asked and nothing that is already there is touched.  Elsewhere than on
# Debian (or a relative with apt) it only checks that the commands are there.
set -eu

# What each kind of work needs.  clang-22 brings neither lld nor its own sanitizers.
packages() {
    case $1 in
    build) echo clang-22 lld-22 flang-22 llvm-22-dev llvm-22-tools libomp-22-dev cmake \
        ninja-build ccache python3-venv hwloc zlib1g-dev libzstd-dev nlohmann-json3-dev \
        libxxhash-dev liblzma-dev libcli11-dev pkg-config ca-certificates \
        libclang-rt-22-dev ;;
    test) echo gcc qemu-system-x86 busybox-static cpio linux-perf autoconf automake libtool \
        valgrind likwid redis-tools chromium chromium-driver mandoc ;;
    real) echo dpkg-dev autoconf automake libtool pkg-config libopenmpi-dev openmpi-bin \
        libopenblas-dev tcl ;;
    lint) echo clang-format-22 clang-tidy-22 ;;
    *) echo "bootstrap: unknown group $1" >&2; exit 2 ;;
    esac
}

wanted=
for group in "$@"; do
    wanted="$wanted $(packages "$group")"
done

if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
    missing=
    for command in clang-22 ld.lld-22 flang-22 cmake ninja python3 lstopo-no-graphics; do
        command -v $command >/dev/null || missing="$missing $command"
    done
    [ -z "$missing" ] && exit 0
    echo "bootstrap: this is not Debian, and these commands are missing:$missing; install them (LLVM 22 from apt.llvm.org or your distribution), then run make again" >&2
    exit 1
fi

missing=
for package in $wanted; do
    case $(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true) in
    installed) ;;
    *) missing="$missing $package" ;;
    esac
done
[ -z "$missing" ] && exit 0

as_root=
if [ "$(id -u)" -ne 0 ]; then
    if ! command -v sudo >/dev/null; then
        echo "bootstrap: not root and no sudo: as root run: apt-get install$missing" >&2
        exit 1
    fi
    as_root="sudo"
fi
echo "bootstrap: installing$missing"
log=$(mktemp)
sources=$(mktemp -d)
trap 'rm -rf "$log" "$sources"' EXIT
quietly() { # runs a command; its output is shown only when it fails
    "$@" >"$log" 2>&1 || { cat "$log" >&2; return 1; }
}
# Other package jobs may hold the lock for a while; mirrors fail now and then.
apt() {
    # shellcheck disable=SC2086
    quietly $as_root env DEBIAN_FRONTEND=noninteractive apt-get -y -q \
        -o DPkg::Lock::Timeout=600 -o Acquire::Retries=4 $with_security "$@" </dev/null
}
with_security=
apt update || echo "bootstrap: apt-get update failed; going on with the lists that are here" >&2
known() {
    # shellcheck disable=SC2086
    apt-cache $with_security show clang-22 >/dev/null 2>&1
}
# Debian 12 has LLVM 22 among its security updates, which a bare debootstrap does not name.
# They are added for these calls of apt only, beside the machine's own lists.
if ! known && grep -q '^VERSION_CODENAME=bookworm' /etc/os-release 2>/dev/null; then
    echo "bootstrap: apt's lists do not name bookworm-security, where clang-22 is; using it for this once"
    find /etc/apt/sources.list.d -maxdepth 1 -type f -exec cp {} "$sources" \; 2>/dev/null || true
    echo "deb http://deb.debian.org/debian-security bookworm-security main" \
        >"$sources/thermocline-security.list"
    chmod -R a+rX "$sources" # apt fetches as a user of its own
    with_security="-o Dir::Etc::SourceParts=$sources"
    apt update || true
fi
if ! known; then
    echo "bootstrap: apt knows no clang-22: Debian 12 has it in bookworm-security (deb http://deb.debian.org/debian-security bookworm-security main); add that line, or LLVM's own (https://apt.llvm.org), and run make again" >&2
    exit 1
fi
# shellcheck disable=SC2086
apt install --no-install-recommends $missing
