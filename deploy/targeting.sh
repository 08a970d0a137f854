#!/bin/bash
# Compares what answers cost with and without targeting, side by side: `adshard up` of one corpus, and of the same one in which
# most campaigns have targeting, asked with contexts. Usage: targeting.sh
#
# The figure is the processor time of the cluster an answer, in pairs; both are asked in turn. TARGETING_PAIRS, TARGETING_KEYWORDS,
# TARGETING_GROUP_KEYWORDS (few of them give many campaigns), TARGETING_PROFILES, TARGETING_RATE and TARGETING_SECONDS make it longer or larger. Searches alone, without HTTP, are compared by
# BenchmarkTargeting of barrels/rocks (docs/experiments/targeting.md).
set -eu -o pipefail
cd "$(dirname "$0")/.."
settings=$(deploy/rocksdb.sh env) # eval would go on without them
eval "$settings"
[ $# = 0 ] || { echo "usage: $0" >&2; exit 2; }
pairs=${TARGETING_PAIRS:-20}
keywords=${TARGETING_KEYWORDS:-100000}
groups=${TARGETING_GROUP_KEYWORDS:-0}
profiles=${TARGETING_PROFILES:-500}
rate=${TARGETING_RATE:-500}
seconds=${TARGETING_SECONDS:-3}
export GOFLAGS="${GOFLAGS:-} -buildvcs=false"
dir=$(mktemp -d)
ups=()
finish() {
	for p in ${ups[@]+"${ups[@]}"}; do kill -TERM "$p" 2>/dev/null && wait "$p" 2>/dev/null || true; done
	rm -rf "$dir"
}
trap finish EXIT
trap 'exit 1' INT TERM

go build -o "$dir/" ./cmd/adshard
go -C bench build -o "$dir/" ./cmd/adbench
"$dir/adbench" corpus --keywords "$keywords" --group-keywords "$groups" --seed 1 --out "$dir/ads.csv" --queries "$dir/queries.txt" \
	--targeted 0.8 --profiles "$profiles" --targeting "$dir/targeting.jsonl" --contexts "$dir/contexts.txt" >&2
"$dir/adshard" import --db "sqlite:$dir/a.db" "$dir/ads.csv" >&2
"$dir/adshard" import --db "sqlite:$dir/b.db" "$dir/ads.csv" "$dir/targeting.jsonl" >&2
port=18600
for s in a b; do
	"$dir/adshard" up --db "sqlite:$dir/$s.db" --slaves 3 --interval 0s --data "$dir/$s.data" \
		--http 127.0.0.1:$port --admin 127.0.0.1:$((port + 1)) >"$dir/$s.log" 2>&1 &
	ups+=($!)
	until grep -q '^ready ' "$dir/$s.log"; do kill -0 $! || { cat "$dir/$s.log" >&2; exit 1; }; sleep 0.1; done
	port=$((port + 2))
done
answer() { # NAME SECONDS: processor time of the cluster, microseconds an answer
	local n=0 contexts=()
	[ "$1" = a ] || { n=1; contexts=(--contexts "$dir/contexts.txt"); }
	"$dir/adbench" load --addr "http://127.0.0.1:$((18600 + 2 * n))" --queries "$dir/queries.txt" ${contexts[@]+"${contexts[@]}"} --rate "$rate" \
		--warmup 1s --duration "$2s" --pids "${ups[$n]}" --json "$dir/load.json" >/dev/null
	awk 'BEGIN { RS = "[{}]" } /processor time of the cluster/ && match($0, /"(value|median)": *[0-9.]+/) {
		print substr($0, RSTART + index(substr($0, RSTART), ":"), RLENGTH - index(substr($0, RSTART), ":")) ; exit }' "$dir/load.json"
}
for s in a b; do answer $s 20 >/dev/null; done # caches
for i in $(seq "$pairs"); do
	order="a b"
	[ $((i % 2)) = 1 ] || order="b a"
	for s in $order; do echo "$s $i $(answer $s "$seconds")"; done
done | tee /dev/stderr >"$dir/rows"
awk -v pairs="$pairs" '
{ v[$1, $2] = $3; sum[$1] += $3 }
function t(n) { return n >= 30 ? 2.05 : n >= 20 ? 2.093 : n >= 10 ? 2.262 : n >= 5 ? 2.776 : 12.706 }
END {
	for (i = 1; i <= pairs; i++) { d = log(v["b", i] / v["a", i]); m += d; q += d * d }
	m /= pairs; q = sqrt((q / pairs - m * m) / (pairs - 1))
	printf "answer  untargeted %.1f µs  targeted, with contexts %.1f µs  ratio %.3f, 95 %% interval %.3f to %.3f\n", sum["a"] / pairs, sum["b"] / pairs, exp(m), exp(m - t(pairs) * q), exp(m + t(pairs) * q)
}' "$dir/rows"
