#!/bin/bash
# Everything that must be green. Usage: test.sh [long]
set -eu -o pipefail
cd "$(dirname "$0")/.."
mode=${1:-short}
case $mode in
# A sixth of the long tests and of the fuzz targets' packages, these a second each: that is too short
# for instrumented programs to find a way, and all that they link would be compiled once more.
short) fuzztime=1s turns=6 cases=100 instrumented= ;;
long) fuzztime=4m turns=1 cases=5000 instrumented="-fuzz ."; export MUTATIONS=all ;;
*) echo "usage: $0 [long]" >&2; exit 2 ;;
esac
# What takes turns: another part of it runs with each commit, all of it in the long form.
turn=$((0x$(git rev-parse --short=4 HEAD)))
began=$SECONDS
modules=". counters bench bench/examples/strategy" # ./... ends at a nested go.mod
step() { step=$1; printf '\n== %s (%d s)\n' "$1" $((SECONDS - began)); }
# Tests make databases and stores of which each write is synced: in memory, where there is enough of it and programs
# may be run from there. What is tested of crashes are ends of processes, which a file in memory survives as well.
memory() {
	[ -z "${TMPDIR:-}" ] && [ -w /dev/shm ] && [ "$(awk '/^MemAvailable:/ { print int($2 / 1048576) }' /proc/meminfo)" -ge 12 ] &&
		[ "$(df --output=avail -k /dev/shm | awk 'NR == 2 { print int($1 / 1048576) }')" -ge 8 ] || return 1
	fresh=$(mktemp -d -p /dev/shm)
	cp /bin/true "$fresh/" && "$fresh/true" 2>/dev/null || { rm -r "$fresh"; return 1; }
}
memory || fresh=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$fresh"' EXIT
chmod 755 "$fresh"
mkdir -m 1777 "$fresh/tmp" # servers of tests have users of their own
export TMPDIR=$fresh/tmp
# tested MODULE ARGUMENT...: go test, its output made readable, its outcomes kept.
# Clusters wait now and then: one package more at once than there are cores.
# Compilers may use more memory than tests: they take a seventh less time if they collect garbage less often.
# One run shows all that fails: what failed is told at the end. All mutations take more than
# go test's ten minutes on a busy machine.
failures=()
tested() {
	GOGC=400 go -C "$1" test -exec "env -u GOGC" -json -count=1 -timeout 20m -p $(($(nproc) + 1)) "${@:2}" | "$fresh/testlog" record "$fresh/results" ||
		failures+=("$step: module $1")
}
# Those that take longest begin first: none of them is left alone at the end.
longest="./internal/faults ./internal/mutation ./internal/node/processtest ./backend/sqlite ./internal/audit ./internal/node/balancer ./internal/node/up ./internal/e2e ./barrels/rocks"

# properties MODULE PATTERN...: the packages whose tests know rapid's flags; others refuse them.
properties() {
	go -C "$1" list -test -f '{{.ImportPath}} {{join .Deps " "}} ' "${@:2}" | sed -n 's,^\([^ ]*\)\.test .* pgregory\.net/rapid .*,\1,p'
}

step "packages"
deploy/setup.sh test
settings=$(deploy/rocksdb.sh env) # eval would go on without them
eval "$settings"
export GOFLAGS="${GOFLAGS:-} -buildvcs=false -ldflags=-w" GOWORK=off # no test reads DWARF, and to link it takes long
go build -o "$fresh/testlog" ./internal/testlog

step "formatting"
unformatted=$(gofmt -l $(git ls-files '*.go'))
[ -z "$unformatted" ] || { echo "not formatted: $unformatted" >&2; exit 1; }

for name in $(grep -v '^#' deploy/turns.txt); do # go skips a name in every package that has it
	[ "$(git grep -h "^func $name(" -- '*_test.go' | wc -l)" = 1 ] || { echo "deploy/turns.txt: $name is not the name of one test" >&2; exit 1; }
done

step "generated code"
by="pb fb"
flatc --version | grep -q ' 2\.0\.' || { by=pb; echo "not compared, as $(flatc --version) is not 2.0, which wrote it: code in fb"; }
./schema/generate.sh "$fresh"
for d in $by; do
	diff -r "schema/$d" "$fresh/schema/$d" || { echo "schema/$d is not what its source gives: run make generate" >&2; exit 1; }
done
./internal/node/httpapi/generate.sh "$fresh"
for f in internal/node/httpapi/api/{types,server}.gen.go; do # settings.gen.go is of backend/fields, whose test compares it
	diff "$f" "$fresh/$f" || { echo "$f is not what openapi.yaml gives: run make generate" >&2; exit 1; }
done
./bench/layouts/rdb/generate.sh "$fresh"
for d in $by cp; do
	diff -r "bench/layouts/rdb/$d" "$fresh/bench/layouts/rdb/$d" || { echo "bench/layouts/rdb/$d is not what its source gives: run make generate" >&2; exit 1; }
done

step "vet"
for m in $modules; do GOGC=400 go -C "$m" vet ./...; done
marked=$(git grep -l '^//go:build invariants' -- '*.go' | sed 's,^\(.*\)/[^/]*$,./\1,' | sort -u)
go vet -tags invariants $(grep -v '^\./bench/' <<<"$marked")
go -C bench vet -tags invariants $(sed -n 's,^\./bench/,./,p' <<<"$marked")

# It runs beside the tests, which wait for clusters now and then.
checked() {
	local m status=0
	for m in $modules; do
		(cd "$m" && nice go tool -modfile="$OLDPWD/tools/go.mod" staticcheck ./...) || status=1
	done
	return $status
}
checked >"$fresh/staticcheck" 2>&1 &
checks=$!

step "tests, each benchmark once"
skip=()
cp deploy/skips.txt "$fresh/skips"
if [ "$mode" = short ]; then
	later=$(grep -v '^#' deploy/turns.txt | awk -v of=$turns -v turn=$((turn % turns)) 'NR % of != turn' | paste -s -d '|')
	skip=(-skip "^($later)\$")
	grep -vE " ($later)[/ ]" deploy/skips.txt >"$fresh/skips" # they are not asked at all
	echo "left to another commit, or make test-long: $later"
	export RAPID_CHECKS=50 # of 100; other cases in each run
	export FAULTS_FROM=$((11 + turn % 2)) FAULTS_COUNT=1
fi
# The benchmarks are asked of the test programs: with -bench of its own, go test runs
# one package after the other.
tested . -vet=off ${skip[@]+"${skip[@]}"} $longest ./... -args -test.bench=. -test.benchtime=1x
tested counters -vet=off ./... -args -test.bench=. -test.benchtime=1x
tested bench -vet=off ./... -args -test.bench=. -test.benchtime=1x
tested bench/examples/strategy -vet=off ./... # a user's module, beside ours

step "tests under the race detector, with the invariants of what unsafe lays out"
# SQLite's C, translated to Go, is not instrumented: it took half of the time and is
# not ours. Two goroutines on one connection are still found, in its wrapper. No other
# package may be left out: one that uses sync.Map brings that map's generic methods along
# without the detector's marks, the linker may choose them for the whole program, and
# then what others hand over in a map looks like a race.
# Property tests try fewer cases: what races does so in any of them.
export RAPID_CHECKS=10
tags=invariants$(sed -nE 's/.* -tags=(\S+).*/,\1/p' <<<"$GOFLAGS") # they take the place of those of GOFLAGS
watched="-vet=off -race -tags $tags -short -gcflags=modernc.org/sqlite/lib=-race=false"
# A sixth of the packages with each commit.
[ "$mode" = long ] && raced=1 || raced=$turns
for m in . counters bench; do
	packages=$(awk -v of=$raced -v turn=$((turn % raced)) 'NR % of == turn' deploy/race-packages.txt |
		if [ $m = . ]; then grep -vE '^\./(bench|counters)(/|$)'; else sed -nE "s,^\./$m(/|$),./,p"; fi || true)
	[ -z "$packages" ] || tested $m $watched ${skip[@]+"${skip[@]}"} $packages
done
unset RAPID_CHECKS

step "C beside RocksDB under the address sanitizer"
# Without the other tests of the package: they bring three hundred packages along.
grep -q '^func TestIterators(' barrels/rocks/iterator_test.go
{
	deploy/rocksdb.sh replaced
	for f in "$PWD"/barrels/rocks/*_test.go; do
		[ "${f##*/}" = iterator_test.go ] || printf '"%s": ""\n' "$f"
	done
} | paste -s -d , | sed 's/.*/{"Replace": {&}}/' >"$fresh/overlay.json"
tested . -vet=off -asan -overlay "$fresh/overlay.json" -run '^TestIterators$' ./barrels/rocks

if [ "$mode" = long ]; then
	tested bench -vet=off -asan -run '^TestDamagedValues$' ./layouts/rdb
	step "a slave keeps to its memory, for minutes"
	EXEC_MODE_LONG=cache_describe go test ./backend/postgres -run '^TestConformance$' -timeout 30m
	MEMORY_LONG=1 go test ./internal/node/processtest -run '^TestASlaveKeepsToItsMemory$' -timeout 30m
	step "property tests, $cases cases each"
	go test $(properties . ./search/... ./auction/... ./balance/... ./barrels/... ./backend/... ./ingest/...) -rapid.checks=$cases -timeout 3h
	go -C bench test $(properties bench ./...) -rapid.checks=$cases -timeout 3h
fi

# fuzz DIRECTORY BINARY TARGET CORPUS. A target may fail with nothing but "context
# deadline exceeded" when its worker is busy at the moment at which the time is over;
# that is not the target's fault, and is tried again.
fuzz() {
	local log failed attempt
	log=$(mktemp -p "$fresh")
	for attempt in 1 2 3 4; do
		failed=0
		(cd "$1" && "$2" -test.run '^$' -test.fuzz "^$3\$" -test.fuzzcachedir "$4" -test.fuzztime "$fuzztime" \
			-test.fuzzminimizetime 2s -test.parallel 1) >"$log" 2>&1 || failed=1
		[ $failed = 1 ] && grep -q 'context deadline exceeded' "$log" && ! grep -q 'Failing input' "$log" || break
	done
	printf '%s %s\n%s\n' "$1" "$3" "$(cat "$log")"
	return $failed
}
export -f fuzz
export fresh fuzztime

step "fuzz targets, 1 of $turns packages, $fuzztime each"
cache=$(go env GOCACHE)/fuzz
git grep -l '^func Fuzz' -- '*_test.go' | xargs -n 1 dirname | sort -u |
	awk -v of="$turns" -v turn="$((turn % turns))" 'NR % of == turn' >"$fresh/fuzzed"
# Each package is built once for all of its targets, and linking uses one core; so does
# each target with its one worker.
xargs -P "$(nproc)" -I DIR go -C DIR test -c -vet=off "-ldflags=-s -w" -tags "$tags" $instrumented -o "$fresh/fuzz/DIR/" . <"$fresh/fuzzed"
while read -r dir; do
	binary=$(echo "$fresh/fuzz/$dir/"*.test)
	corpora=$cache/$(go -C "$dir" list .)
	"$binary" -test.list '^Fuzz' | sed -n "s,^Fuzz.*,$dir $binary & $corpora,p"
done <"$fresh/fuzzed" | xargs -P "$(nproc)" -n 4 bash -c 'fuzz "$@"' fuzz || failures+=("$step")

step "staticcheck"
wait "$checks" || failures+=("$step")
cat "$fresh/staticcheck"

[ ${#failures[@]} = 0 ] || { printf 'failed: %s\n' "${failures[@]}" >&2; exit 1; }

step "skipped tests"
status=0
"$fresh/testlog" report "$fresh/results" "$fresh/skips" || status=$?
case $status in
0) ;;
3) [ "${CI:-}" != true ] || exit 1 ;; # a proof that was not run proves nothing
*) exit 1 ;;
esac
step "done"
