#!/bin/bash
# How soon a standby leads, and answers have a budget mark before and after: takeover.sh [TIMES].
# These are the tests of package internal/node/processtest, one at a time; each line is a
# measurement. It fails if one took longer than wanted.
set -eu -o pipefail
cd "$(dirname "$0")/.."
settings=$(deploy/rocksdb.sh env) # eval would go on without them
eval "$settings"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
go test -count="${1:-3}" -parallel 1 -timeout 1h -v -run '^TestALeader' ./internal/node/processtest >"$log" || { cat "$log"; exit 1; }
sed -n -E 's/^ *leader_test\.go:[0-9]+: takeover: //p' "$log"
! grep -q 'takeover: .*: LATE$' "$log"
