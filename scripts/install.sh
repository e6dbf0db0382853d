#!/usr/bin/env bash
# Lays out a command that needs nothing of this checkout: the whole of PREFIX may be moved.
#
#   PREFIX/bin/tpuc                       finds the library by its run path, ../lib/tpuc
#   PREFIX/lib/tpuc/                      the MLIR + StableHLO library
#   PREFIX/lib/tpuc/plugins/              the CPU plugin
#   PREFIX/lib/tpuc/data/mnist/           MNIST in IDX form
#   PREFIX/share/doc/tpuc/                the licences of all of it

set -euo pipefail

prefix=${1:?usage: scripts/install.sh PREFIX}
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# Written beside and renamed: a running tpuc keeps the files it has open.
place() {
    install -D -m "$1" "$2" "$3.new"
    mv -f "$3.new" "$3"
}

place 755 target/release/tpuc "$prefix/bin/tpuc"
library=.deps/lib/libTorchMLIRAggregateCAPI.so
soname=$(readelf -d "$library" | sed -n 's/.*(SONAME).*\[\(.*\)\]$/\1/p')
place 644 "$library" "$prefix/lib/tpuc/${soname:-$(basename "$library")}"
for plugin in .deps/plugins/*.so; do
    place 644 "$plugin" "$prefix/lib/tpuc/plugins/$(basename "$plugin")"
done
for data in .deps/data/mnist/*-ubyte; do
    place 644 "$data" "$prefix/lib/tpuc/data/mnist/$(basename "$data")"
done
place 644 LICENSE "$prefix/share/doc/tpuc/LICENSE"
for license in .deps/*/*.LICENSE .deps/*/*.THIRD_PARTY_NOTICES; do
    [ -e "$license" ] || continue
    place 644 "$license" "$prefix/share/doc/tpuc/$(basename "$license")"
done

"$prefix/bin/tpuc" --version
