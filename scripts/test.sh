#!/usr/bin/env bash
# Runs every test of the workspace and ends with one line in cargo's form that counts them all.

set -uo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit
log=$(mktemp)
trap 'rm -f "$log"' EXIT

"${CARGO:-cargo}" test --locked --workspace --all-features --no-fail-fast 2>&1 | tee "$log"
status=${PIPESTATUS[0]}

awk -v status="$status" '
    /^test result: / { binaries++; passed += $4; failed += $6; ignored += $8 }
    END {
        printf "\nall test results: %s. %d passed; %d failed; %d ignored; in %d test binaries\n",
            status == 0 ? "ok" : "FAILED", passed, failed, ignored, binaries
    }' "$log"
exit "$status"
