#!/usr/bin/env bash
# Makes the peers' own Python environment if it is not there, then measures. `bench/README.md` is its manual.
# `--with torch` and `--with candle` install the peers that are not there by default.

set -euo pipefail

bench=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)
venv=$bench/.venv

fail() {
    printf 'bench: error: %s\n' "$1" >&2
    shift
    local line
    for line; do printf '  %s\n' "$line" >&2; done
    exit 2
}

# JAX's current releases take Python 3.12 or later. A name on the path may be a wrapper for one that is not there.
find_python() {
    local candidate
    for candidate in "${BENCH_PYTHON-}" python3.13 python3.12 python3 "${PYENV_ROOT:-$HOME/.pyenv}"/versions/3.1[23].*/bin/python3; do
        if [ -n "$candidate" ] && "$candidate" -c 'import sys, venv; sys.exit(sys.version_info < (3, 12))' 2>/dev/null; then
            echo "$candidate"
            return
        fi
    done
    return 1
}

with=()
arguments=()
while [ $# -gt 0 ]; do
    if [ "$1" = --with ]; then
        case "${2-}" in
            torch | candle) with+=("$2") ;;
            *) fail "--with takes torch or candle." ;;
        esac
        shift 2
    else
        arguments+=("$1")
        shift
    fi
done

if ! cmp -s "$bench/requirements.txt" "$venv/requirements.txt"; then
    python=$(find_python) || fail "the peers need Python 3.12 or later, and none was found." \
        "Set BENCH_PYTHON to one."
    echo "bench: installing the peers into bench/.venv"
    rm -rf "$venv"
    "$python" -m venv "$venv"
    "$venv/bin/python" -m pip install --quiet --disable-pip-version-check --only-binary=:all: \
        --requirement "$bench/requirements.txt" || fail "the peers could not be installed; is the network there?"
    cp "$bench/requirements.txt" "$venv/requirements.txt"
fi

for extra in ${with[@]+"${with[@]}"}; do
    case $extra in
        torch)
            cmp -s "$bench/requirements-torch.txt" "$venv/requirements-torch.txt" && continue
            command -v g++ >/dev/null || fail "torch.compile needs a C++ compiler (g++), and there is none."
            echo "bench: installing PyTorch into bench/.venv, about 4 GB"
            "$venv/bin/python" -m pip install --quiet --disable-pip-version-check --no-cache-dir --no-deps --only-binary=:all: \
                --requirement "$bench/requirements-torch.txt" || fail "PyTorch could not be installed; is the network there?"
            cp "$bench/requirements-torch.txt" "$venv/requirements-torch.txt"
            ;;
        candle)
            # As Candle's manual says: its elementwise loops are vectorised by the compiler.
            RUSTFLAGS="-C target-cpu=native" cargo build --release --locked --manifest-path "$bench/peers/candle/Cargo.toml" || fail "the Candle peer could not be built."
            ;;
    esac
done

exec "$venv/bin/python" "$bench/harness.py" ${arguments[@]+"${arguments[@]}"}
