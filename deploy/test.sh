#!/bin/bash
# Everything that must be green. Usage: test.sh [long]
set -eu -o pipefail
cd "$(dirname "$0")/.."
mode=${1:-short}
case $mode in
short) fuzztime=2s checks=100 ;;
long) fuzztime=2m checks=5000 ;;
*) echo "usage: $0 [long]" >&2; exit 2 ;;
esac
began=$SECONDS
modules=". bench" # ./... ends at a nested go.mod
step() { printf '\n== %s (%d s)\n' "$1" $((SECONDS - began)); }
fresh=$(mktemp -d)
trap 'rm -rf "$fresh"' EXIT
# tested MODULE ARGUMENT...: go test, its output made readable, its outcomes kept.
# Clusters mostly wait: more packages at once than there are cores.
tested() { go -C "$1" test -json -count=1 -p $(($(nproc) * 2)) "${@:2}" | "$fresh/testlog" record "$fresh/results"; }

# properties MODULE PATTERN...: the packages whose tests know rapid's flags; others refuse them.
properties() {
	go -C "$1" list -test -f '{{.ImportPath}} {{join .Deps " "}} ' "${@:2}" | sed -n 's,^\([^ ]*\)\.test .* pgregory\.net/rapid .*,\1,p'
}

step "packages"
deploy/setup.sh test
export GOFLAGS="${GOFLAGS:-} -buildvcs=false" GOWORK=off
go build -o "$fresh/testlog" ./internal/testlog

step "formatting"
unformatted=$(gofmt -l $(git ls-files '*.go'))
[ -z "$unformatted" ] || { echo "not formatted: $unformatted" >&2; exit 1; }

step "generated code"
./schema/generate.sh "$fresh"
for d in pb fb; do
	diff -r "schema/$d" "$fresh/schema/$d" || { echo "schema/$d is not what its source gives: run make generate" >&2; exit 1; }
done
./internal/node/httpapi/generate.sh "$fresh"
for f in internal/node/httpapi/api/*.gen.go; do
	diff "$f" "$fresh/$f" || { echo "$f is not what openapi.yaml gives: run make generate" >&2; exit 1; }
done
./bench/layouts/rdb/generate.sh "$fresh"
for d in pb fb; do
	diff -r "bench/layouts/rdb/$d" "$fresh/bench/layouts/rdb/$d" || { echo "bench/layouts/rdb/$d is not what its source gives: run make generate" >&2; exit 1; }
done

step "vet and staticcheck"
for m in $modules; do
	go -C "$m" vet ./...
	(cd "$m" && go tool -modfile="$OLDPWD/tools/go.mod" staticcheck ./...)
done

step "tests, each benchmark once"
for m in $modules; do
	tested "$m" -vet=off -bench=. -benchtime=1x ./...
done

step "tests under the race detector, with the invariants of what unsafe lays out"
# SQLite's C, translated to Go, is not instrumented: it took half of the time and is
# not ours. Two goroutines on one connection are still found, in its wrapper.
watched="-race -tags invariants -short -gcflags=modernc.org/...=-race=false"
tested . $watched $(grep -v '^\./bench/' deploy/race-packages.txt)
tested bench $watched $(sed -n 's,^\./bench/,./,p' deploy/race-packages.txt)

step "C beside RocksDB under the address sanitizer"
tested . -vet=off -asan -run '^TestIterators$' ./barrels/rocks
tested bench -vet=off -asan -run '^TestDamagedValues$' ./layouts/rdb

if [ "$mode" = long ]; then
	step "a slave keeps to its memory, for minutes"
	MEMORY_LONG=1 go test ./internal/node/processtest -run '^TestASlaveKeepsToItsMemory$' -timeout 30m
	step "property tests, $checks cases each"
	go test $(properties . ./search/... ./auction/... ./balance/... ./barrels/... ./backend/... ./ingest/...) -rapid.checks=$checks -timeout 3h
	go -C bench test $(properties bench ./...) -rapid.checks=$checks -timeout 3h
fi

# fuzz BINARY TARGET CORPUS. A target may fail with nothing but "context deadline
# exceeded" when a worker is busy at the moment at which the time is over; that
# is not the target's fault, and is tried once more.
fuzz() {
	local log=$fresh/fuzz.log
	for attempt in 1 2; do
		if "$1" -test.run '^$' -test.fuzz "^$2\$" -test.fuzzcachedir "$3" -test.fuzztime "$fuzztime" \
			-test.fuzzminimizetime 2s 2>&1 | tee "$log"; then
			return 0
		fi
		grep -q 'context deadline exceeded' "$log" && ! grep -q 'Failing input' "$log" || break
	done
	return 1
}

step "fuzz targets, $fuzztime each"
cache=$(go env GOCACHE)/fuzz
git grep -l '^func Fuzz' -- '*_test.go' | xargs -n 1 dirname | sort -u >"$fresh/fuzzed"
# Each package is built once for all of its targets, and linking uses one core.
xargs -P "$(nproc)" -I DIR go -C DIR test -c -vet=off -tags invariants -fuzz . -o "$fresh/fuzz/DIR/" . <"$fresh/fuzzed"
for dir in $(cat "$fresh/fuzzed"); do
	binary=$(echo "$fresh/fuzz/$dir/"*.test)
	corpora=$cache/$(go -C "$dir" list .)
	for target in $("$binary" -test.list '^Fuzz' | grep '^Fuzz'); do
		echo "$dir $target"
		(cd "$dir" && fuzz "$binary" "$target" "$corpora")
	done
done

step "skipped tests"
status=0
"$fresh/testlog" report "$fresh/results" deploy/skips.txt || status=$?
case $status in
0) ;;
3) [ "${CI:-}" != true ] || exit 1 ;; # a proof that was not run proves nothing
*) exit 1 ;;
esac
step "done"
