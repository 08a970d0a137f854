#!/bin/bash
# The long form of the audit (internal/audit): real processes, ten minutes on
# the golden corpus and ten on one of 300,000 keywords, while strategies switch,
# data change and processes are killed; and ten minutes of worse: slaves hang,
# programs start on other databases, bits flip in stores and in the database,
# files are taken away and backups restored. Then three times ten minutes with two
# replicas of each of three shards at 300 queries a second: slaves are killed, stopped
# (SIGSTOP), masters are killed, and the number of replicas changes. AUDIT_DURATION and
# AUDIT_KEYWORDS make it shorter or smaller; AUDIT_ONLY=kill, large, harm or replicas
# does one of them, AUDIT_FAULTS="kill stop" some of the last.
set -eu -o pipefail
cd "$(dirname "$0")/.."
settings=$(deploy/rocksdb.sh env) # eval would go on without them
eval "$settings"
duration=${AUDIT_DURATION:-10m}
keywords=${AUDIT_KEYWORDS:-300000}
[ -x bin/adbench ] && [ -x bin/adshard ] || { echo "bin/ has no programs; run make build first" >&2; exit 1; }
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
audit() {
	go test -count=1 -v -timeout 60m ./internal/audit -run '^TestAudit$' \
		-audit.duration "$duration" -audit.strategy 10s -audit.kill 20s "$@"
}
only=${AUDIT_ONLY:-all}
wanted() { [ "$only" = all ] || [ "$only" = "$1" ]; }
if wanted harm; then
	echo "== golden corpus, harm, $duration"
	audit -audit.harm -audit.kill 5s
fi
if wanted kill; then
	echo "== golden corpus, $duration"
	audit
fi
if wanted large; then
	echo "== $keywords keywords, $duration"
	bin/adbench corpus --keywords "$keywords" --seed 1 --force --out "$dir/ads.csv" --queries "$dir/queries.txt"
	bin/adshard import --db "sqlite:$dir/ads.db" "$dir/ads.csv"
	audit -audit.db "$dir/ads.db" -audit.queries "$dir/queries.txt"
fi
if wanted replicas; then
	for fault in ${AUDIT_FAULTS:-kill stop master}; do
		echo "== replicas, $fault, $duration"
		share=0.9999
		[ "$fault" != stop ] || share=0.999
		go test -count=1 -v -timeout 60m ./internal/audit -run '^TestAuditOfReplicas$' -audit.strategy 10s \
			-audit.fault "$fault" -audit.faults "$duration" -audit.every 20s -audit.rest 30s \
			-audit.queries-a-second 300 -audit.change -audit.complete "$share" -audit.timed
	done
fi
