#!/bin/bash
# Everything that must be green. Usage: test.sh [long]
set -eu -o pipefail
cd "$(dirname "$0")/.."
mode=${1:-short}
case $mode in
short) fuzztime=4s checks=100 ;;
long) fuzztime=2m checks=5000 ;;
*) echo "usage: $0 [long]" >&2; exit 2 ;;
esac
began=$SECONDS
step() { printf '\n== %s (%d s)\n' "$1" $((SECONDS - began)); }

step "packages"
deploy/setup.sh test
export GOFLAGS="${GOFLAGS:-} -buildvcs=false"

step "formatting"
unformatted=$(gofmt -l $(git ls-files '*.go'))
[ -z "$unformatted" ] || { echo "not formatted: $unformatted" >&2; exit 1; }

step "generated code"
fresh=$(mktemp -d)
trap 'rm -rf "$fresh"' EXIT
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
go vet ./...
go tool -modfile=tools/go.mod staticcheck ./...

step "tests, each benchmark once"
ls /usr/lib/postgresql/*/bin/postgres >/dev/null 2>&1 || echo "PostgreSQL is not installed: its tests are skipped (make peers installs it)"
ls bin/lucene/*.jar >/dev/null 2>&1 || echo "Lucene Monitor is not built: its tests are skipped (make peers builds it)"
go test -count=1 -bench=. -benchtime=1x ./...

step "tests under the race detector"
go test -count=1 -race -short $(cat deploy/race-packages.txt)

step "C beside RocksDB under the address sanitizer"
go test -count=1 -asan -run '^TestIterators$' ./barrels/rocks
go test -count=1 -asan -run '^TestDamagedValues$' ./bench/layouts/rdb

if [ "$mode" = long ]; then
	step "the search with each of its ideas switched off"
	go test -count=1 -run '^TestIdeasAnswerAlike$' ./bench/ablation -args -alike
	step "property tests, $checks cases each"
	go test ./search/... ./auction/... ./balance/... ./barrels/... ./backend/... ./ingest/... -rapid.checks=$checks -timeout 3h
fi

# fuzz PACKAGE TARGET. The go tool may fail with nothing but "context deadline
# exceeded" when a worker is busy at the moment at which the time is over; that
# is not the target's fault, and is tried once more.
fuzz() {
	local log
	log=$(mktemp)
	for attempt in 1 2; do
		if go test -run '^$' -fuzz "^$2\$" -fuzztime "$fuzztime" -fuzzminimizetime 2s "$1" 2>&1 | tee "$log"; then
			rm -f "$log"
			return 0
		fi
		grep -q 'context deadline exceeded' "$log" && ! grep -q 'Failing input' "$log" || break
	done
	rm -f "$log"
	return 1
}

step "fuzz targets, $fuzztime each"
for pkg in $(go list ./...); do
	go test -list '^Fuzz' "$pkg" | { grep '^Fuzz' || true; } | while read -r target; do
		echo "$pkg $target"
		fuzz "$pkg" "$target"
	done
done
step "done"
