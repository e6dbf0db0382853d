#!/bin/sh
# What the MLIR bindings ask of llvm-config, answered for the shared MLIR + StableHLO library under `.deps/lib`.
# The headers are those of the LLVM tree that `.deps/llvm` points to. `setup.sh` fills in the version.

deps=$(cd "$(dirname "$(readlink -f "$0")")/../.." && pwd -P)
static=
for argument; do
    case $argument in
        --link-static) static=yes ;;
        --link-shared | --ignore-libllvm) ;;
        --version) echo @LLVM_VERSION@ ;;
        --libdir) echo "$deps/lib" ;;
        --includedir) (cd "$deps/llvm/include" && pwd -P) ;;
        # There is only the shared form, and it needs no library beside itself.
        --libnames) if [ -n "$static" ]; then exit 1; fi; echo ;;
        --system-libs) echo ;;
        *) echo "llvm-config: $argument has no answer here" >&2; exit 1 ;;
    esac
done
