#!/bin/bash
# Compares what things cost with an earlier commit, side by side: both are built,
# and measured in turn, so that a machine that is slow for a while is slow for
# both. Usage: against.sh COMMIT
#
# search: BenchmarkSearchBuilt of barrels/rocks: its time, on one goroutine, and its
#   allocations.
# answer: one of `adshard up` with three slaves under a fixed rate: the processor
#   time of its process.
# served, served-top: a query of `adbench search --setups log` on one thread.
# import, build: processor time of `adshard import` into a new database and of
#   `adshard barrels build`.
# fill, read: processor time of BenchmarkFill of barrels/rocks, which writes a store and
#   compacts it, and the time of BenchmarkCertify, which reads all of one.
# bucket, open: processor time of BenchmarkApply, 30,000 buckets of one changed group, and
#   of BenchmarkOpen, 60 times a small store that was closed.
#
# Each figure of search, import, build, fill, read, bucket and open is the least of AGAINST_RUNS runs
# in a row: what else happens on the machine only ever adds to it.
#
# AGAINST_ROCKSDB=11 builds the working tree with RocksDB 11 (deploy/rocksdb.sh), but for
# adbench and so served: its C++ is written for 7.8.
# AGAINST_PARTS chooses among search, answer, served, import and, if named, store
# (fill and read) and bucket (bucket and open); AGAINST_PAIRS,
# AGAINST_RUNS, AGAINST_KEYWORDS, AGAINST_RATE and AGAINST_SECONDS make it longer or
# larger.
set -eu -o pipefail
cd "$(dirname "$0")/.."
[ $# = 1 ] || { echo "usage: $0 COMMIT" >&2; exit 2; }
commit=$1
parts=${AGAINST_PARTS:-search answer served import}
pairs=${AGAINST_PAIRS:-20}
runs=${AGAINST_RUNS:-4}
keywords=${AGAINST_KEYWORDS:-100000}
rate=${AGAINST_RATE:-1000}
seconds=${AGAINST_SECONDS:-5}
export GOFLAGS="${GOFLAGS:-} -buildvcs=false"
dir=$(mktemp -d)
ups=()
finish() {
	for p in ${ups[@]+"${ups[@]}"}; do kill -TERM "$p" 2>/dev/null && wait "$p" 2>/dev/null || true; done
	git worktree remove --force "$dir/before" 2>/dev/null || true
	rm -rf "$dir"
}
trap finish EXIT
trap 'exit 1' INT TERM

git worktree add -q --detach "$dir/before" "$commit"
with() {
	local settings
	[ -n "${AGAINST_ROCKSDB:-}" ] || return 0
	settings=$(ROCKSDB=$AGAINST_ROCKSDB deploy/rocksdb.sh env) # eval would go on without them
	eval "$settings"
}
build() { # NAME SOURCE
	mkdir -p "$dir/$1.bin"
	(
		[ "$1" = a ] || with
		cd "$2" && go build -o "$dir/$1.bin/" ./cmd/adshard && go test -c -o "$dir/$1.bin/search" ./barrels/rocks
	)
	if [ -e "$2/bench/go.mod" ]; then # once adbench was of the same module
		go -C "$2/bench" build -o "$dir/$1.bin/" ./cmd/adbench
	else
		(cd "$2" && go build -o "$dir/$1.bin/" ./cmd/adbench)
	fi
}
echo "building $commit and the working tree" >&2
build a "$dir/before"
build b .

"$dir/b.bin/adbench" corpus --keywords "$keywords" --seed 1 --out "$dir/ads.csv" --queries "$dir/queries.txt" >&2
start() {
	local port=18500 s order
	for s in a b; do
		"$dir/$s.bin/adshard" import --db "sqlite:$dir/$s.db" "$dir/ads.csv" >&2
		# The groups are to lie alike on both sides.
		order=
		"$dir/$s.bin/adshard" up --help | grep -q -e --order && order="--order advertiser"
		"$dir/$s.bin/adshard" up $order --db "sqlite:$dir/$s.db" --slaves 3 --interval 0s --data "$dir/$s.data" \
			--http 127.0.0.1:$port --admin 127.0.0.1:$((port + 1)) >"$dir/$s.log" 2>&1 &
		ups+=($!)
		until grep -q '^ready ' "$dir/$s.log"; do kill -0 $! || { cat "$dir/$s.log" >&2; exit 1; }; sleep 0.1; done
		port=$((port + 2))
	done
}
search() { # NAME: nanoseconds, bytes and allocations a search
	(cd "$dir" && "$dir/$1.bin/search" -test.run '^$' -test.bench '^BenchmarkSearchBuilt$' -test.benchmem -test.benchtime 0.5s -test.count "$runs") |
		awk '/^Benchmark/ { for (i = 2; i < NF; i++) if ($(i+1) == "ns/op") ns = $i; else if ($(i+1) == "B/op") b = $i; else if ($(i+1) == "allocs/op") n = $i
			if (!rows++ || ns < least) least = ns; bytes += b; allocs += n } END { print least, bytes / rows, allocs / rows }'
}
answer() { # NAME: processor time of the cluster, microseconds an answer
	local n=0
	[ "$1" = a ] || n=1
	"$dir/b.bin/adbench" load --addr "http://127.0.0.1:$((18500 + 2 * n))" --queries "$dir/queries.txt" --rate "$rate" \
		--duration "${seconds}s" --pids "${ups[$n]}" --json "$dir/load.json" >/dev/null
	awk 'BEGIN { RS = "[{}]" } /processor time of the cluster/ && match($0, /"(value|median)": *[0-9.]+/) {
		print substr($0, RSTART + index(substr($0, RSTART), ":"), RLENGTH - index(substr($0, RSTART), ":")) ; exit }' "$dir/load.json"
}
served() { # NAME: microseconds a query of both layouts
	"$dir/$1.bin/adbench" search --keywords "$((3 * keywords))" --layouts served,served-top --setups log \
		--seconds 2 --rounds 1 --json "$dir/served.json" >/dev/null 2>&1
	awk 'BEGIN { RS = "[{}]" } /"setup": *"log"[,\n]/ && match($0, /"queries_per_second": *[0-9.]+/) {
		print 1e6 / substr($0, RSTART + index(substr($0, RSTART), ":"), RLENGTH - index(substr($0, RSTART), ":")) }' "$dir/served.json" | paste -sd ' '
}
seconds_of() { # COMMAND…: its processor time
	local TIMEFORMAT='%U %S'
	{ time "$@" >/dev/null 2>&1; } 2>&1 | awk '{ print $1 + $2 }'
}
import() { # NAME: seconds of an import and of a build
	for _ in $(seq "$runs"); do
		rm -rf "$dir/again.db"* "$dir/again"
		echo "$(seconds_of "$dir/$1.bin/adshard" import --db "sqlite:$dir/again.db" "$dir/ads.csv")" \
			"$(seconds_of "$dir/$1.bin/adshard" barrels build --db "sqlite:$dir/again.db" --slaves 1 --out "$dir/again")"
	done | awk 'NR == 1 || $1 < import { import = $1 } NR == 1 || $2 < build { build = $2 } END { print import, build }'
}
store() { # NAME: seconds of a fill, milliseconds of reading all
	for _ in $(seq "$runs"); do
		echo "$(cd "$dir" && seconds_of "$dir/$1.bin/search" -test.run '^$' -test.bench '^BenchmarkFill$' -test.benchtime 1x -keywords "$keywords")" \
			"$(cd "$dir" && "$dir/$1.bin/search" -test.run '^$' -test.bench '^BenchmarkCertify$' -test.benchtime 3x -keywords "$keywords" |
				awk '/^Benchmark/ { for (i = 2; i < NF; i++) if ($(i+1) == "ns/op") print $i / 1e6 }')"
	done | awk 'NR == 1 || $1 < fill { fill = $1 } NR == 1 || $2 < read { read = $2 } END { print fill, read }'
}
benchmark() { # NAME BENCHMARK TIMES: seconds of a benchmark of barrels/rocks
	(cd "$dir" && seconds_of "$dir/$1.bin/search" -test.run '^$' -test.bench "^$2\$" -test.benchtime "$3")
}
bucket() { # NAME: seconds of buckets, and of opening
	for _ in $(seq "$runs"); do
		echo "$(benchmark "$1" BenchmarkApply 30000x)" "$(benchmark "$1" BenchmarkOpen 60x)"
	done | awk 'NR == 1 || $1 < bucket { bucket = $1 } NR == 1 || $2 < open { open = $2 } END { print bucket, open }'
}
case " $parts " in *" answer "*)
	start
	for s in a b; do answer $s >/dev/null; done # caches, connections, the first views
esac
for i in $(seq "$pairs"); do
	order="a b"
	[ $((i % 2)) = 1 ] || order="b a"
	for s in $order; do
		for part in $parts; do
			echo "$part $s $i $($part $s)"
		done
	done
done | tee /dev/stderr >"$dir/rows"

# The ratio's geometric mean with its 95 % interval (Student's t).
awk -v pairs="$pairs" -v parts="$parts" '
function note(what) { v[what, $2, $3] = $4; sum[what, $2] += $4 }
$1 == "served" { note("served"); $4 = $5; note("served-top"); next }
$1 == "import" { note("import"); $4 = $5; note("build"); next }
$1 == "bucket" { note("bucket"); $4 = $5; note("open"); next }
$1 == "store" { note("fill"); $4 = $5; note("read"); next }
{ note($1); bytes[$2] += $5; allocs[$2] += $6 }
function t(n) { return n >= 30 ? 2.05 : n >= 20 ? 2.093 : n >= 10 ? 2.262 : n >= 5 ? 2.776 : 12.706 }
function verdict(what,   i, d, m, q) {
	m = 0; q = 0
	for (i = 1; i <= pairs; i++) { d = log(v[what, "b", i] / v[what, "a", i]); m += d; q += d * d }
	m /= pairs; q = sqrt((q / pairs - m * m) / (pairs - 1))
	printf "%-10s before %10.2f  now %10.2f  ratio %.3f, 95 %% interval %.3f to %.3f\n", what, sum[what, "a"] / pairs, sum[what, "b"] / pairs, exp(m), exp(m - t(pairs) * q), exp(m + t(pairs) * q)
}
END {
	n = split(parts, list, " ")
	for (k = 1; k <= n; k++) {
		verdict(list[k] == "store" ? "fill" : list[k])
		if (list[k] == "store") verdict("read")
		if (list[k] == "served") verdict("served-top")
		if (list[k] == "import") verdict("build")
		if (list[k] == "bucket") verdict("open")
		if (list[k] == "search") printf "search     allocations before %.2f now %.2f, bytes before %.1f now %.1f\n", allocs["a"] / pairs, allocs["b"] / pairs, bytes["a"] / pairs, bytes["b"] / pairs
	}
}' "$dir/rows"
