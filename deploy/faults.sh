#!/bin/bash
# Plays schedules of faults (internal/faults, docs/reliability.md): faults.sh [--from SEED]
# [--count N], or FAULTS_FROM and FAULTS_COUNT; 100 seeds take about an hour on two cores.
# FAULTS_ONLY="17 23" plays these. Outcomes are appended to FAULTS_OUT, each when its schedule
# ends; that is docs/experiments/faults.jsonl unless seeds are replayed. The table of all that the
# file has is printed at the end, also of a run that was interrupted; faults.sh --table FILE...
# prints that of files of several runs. FAULTS_LOGS=DIR keeps the logs of all processes,
# FAULTS_LENGTH=20s is how long faults are drawn for, FAULTS_PARALLEL=2 schedules are played at a
# time, each on hosts of its own. FAULTS_OLD=DIR has programs of an earlier commit, with the same
# configuration: schedules that replace programs begin with them.
set -eu -o pipefail
usage="usage: $0 [--from SEED] [--count N], or $0 --table FILE..."
tables=
while [ $# -gt 0 ]; do
	case $1 in
	--from) export FAULTS_FROM=$2 ;;
	--count) export FAULTS_COUNT=$2 ;;
	--table) shift; tables=$(realpath -- "$@"); break ;;
	*) echo "$usage" >&2; exit 2 ;;
	esac
	shift 2
done
cd "$(dirname "$0")/.."
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
# table FILE...: prints the table of outcomes; "write": writes it into the page.
table() { (cd internal/faults && FAULTS_TABLE=$* "$dir/faults.test" -test.run "^TestTable\$" | sed '/^PASS$/d'); }
if [ -n "$tables" ]; then
	go test -c -o "$dir/faults.test" ./internal/faults
	table $tables
	exit
fi
export FAULTS_FROM=${FAULTS_FROM:-1} FAULTS_COUNT=${FAULTS_COUNT:-100} FAULTS_LENGTH=${FAULTS_LENGTH:-20s}
export FAULTS_COMMIT=${FAULTS_COMMIT:-$(git rev-parse --short HEAD)$(git diff --quiet HEAD -- '*.go' || echo +)}
outcomes=$PWD/docs/experiments/faults.jsonl
[ -z "${FAULTS_ONLY:-}" ] || FAULTS_OUT=${FAULTS_OUT:-$dir/outcomes.jsonl}
export FAULTS_OUT=$(realpath -m -- "${FAULTS_OUT:-$outcomes}")

# The programs read the wall clock by time.Now. This build adds a variable to it, which
# the suite writes into running processes.
source=$(go env GOROOT)/src/time/time.go
sed 's/^\tsec, nsec, mono := runtimeNow()$/&\n\tsec += wallShift/; $a\\nvar wallShift int64' "$source" >"$dir/time.go"
[ "$(grep -c wallShift "$dir/time.go")" -ge 2 ] || { echo "$source is not as expected: clocks cannot be shifted" >&2; exit 1; }
{ deploy/rocksdb.sh replaced; printf '"%s": "%s"\n' "$source" "$dir/time.go"; } | paste -s -d , | sed 's/.*/{"Replace": {&}}/' >"$dir/overlay.json"
go test -c -o "$dir/faults.test" -overlay "$dir/overlay.json" ./internal/faults
seeds=(${FAULTS_ONLY:-$(seq "$FAULTS_FROM" $((FAULTS_FROM + FAULTS_COUNT - 1)))})
parallel=${FAULTS_PARALLEL:-1}
# Each process has namespaces of its own, and every N-th seed.
for ((i = 0; i < parallel && i < ${#seeds[@]}; i++)); do
	for ((n = i; n < ${#seeds[@]}; n += parallel)); do mine[n]=${seeds[n]}; done
	(cd internal/faults && FAULTS_ONLY=${mine[*]} exec "$dir/faults.test" -test.v -test.timeout 24h -test.run "^TestSchedules\$") &
	players+=($!)
	unset mine
done
ended() {
	[ ! -e "$FAULTS_OUT" ] || table "$FAULTS_OUT"
	[ "$FAULTS_OUT" != "$outcomes" ] || table write
}
trap 'kill "${players[@]}" 2>/dev/null || :; wait || :; ended; exit 1' INT TERM
for player in "${players[@]}"; do wait "$player" || status=$?; done
ended
exit "${status:-0}"
