#!/bin/bash
# Upgrades a cluster under queries: real processes of an earlier commit, six slaves with
# two replicas of each of three shards, get today's programs one at a time, while data
# change, slices move and every answer is judged (internal/audit, TestUpgrade). If both
# have the same words, once from the slaves to the masters and once the other way round;
# else in the order for other words (docs/operations/upgrade.md). Usage: upgrade.sh [COMMIT]
set -eu -o pipefail
cd "$(dirname "$0")/.."
commit=${1:-3ea3686a} # the last one before what only earlier programs had went
settings=$(deploy/rocksdb.sh env) # eval would go on without them
eval "$settings"
export GOFLAGS="${GOFLAGS:-} -buildvcs=false"
dir=$(mktemp -d)
finish() {
	git worktree remove --force "$dir/source" 2>/dev/null || true
	rm -rf "$dir"
}
trap finish EXIT
trap 'exit 1' INT TERM
git worktree add --quiet --detach "$dir/source" "$commit"
echo "building $commit"
settings=$(deploy/rocksdb.sh other "$dir/source")
(eval "$settings" && cd "$dir/source" && go build -o "$dir/before/" ./cmd/...)
go test -count=1 -v -timeout 30m ./internal/audit -run '^TestUpgrade$' -audit.before "$dir/before" -audit.strategy 5s -audit.rest 10s
