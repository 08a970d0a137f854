#!/bin/bash
# Measures what answers of a whole cluster cost, over HTTP, and compares with an
# earlier commit: both are built and asked in turn, so that a machine that is slow
# for a while is slow for both. Usage: cluster.sh [COMMIT]
# CLUSTER_NOW is another commit that COMMIT is compared with, in place of this tree.
#
# closed: 64 requests always under way: what the cluster is capable of.
# open: 2,000 requests a second at random times, latencies from when they were due.
# slow: the same, while one query of the 32 commonest words with exact counts is
#   always under way; its rows are those of the ordinary queries.
# alone: one request at a time.
#
# CLUSTER_PARTS chooses among them. CLUSTER_MODES: processes (adshard up
# --processes), up (one process). CLUSTER_SLAVES: numbers of slaves. CLUSTER_TURNS,
# CLUSTER_SECONDS, CLUSTER_KEYWORDS and CLUSTER_RATE make it longer or larger;
# CLUSTER_ARGS are more arguments of the newer adshard up. CLUSTER_WITH adds a third side,
# this program with these arguments as well (ports from 18542 on are free for them), counts
# only the processor time of master and slaves, and prints the differences within the
# turns. Nothing else should run.
#
# The load generator runs on the same processors, and before the cluster where that is
# allowed (root): what it waits for its own turn is not the cluster's time.
set -eu -o pipefail
cd "$(dirname "$0")/.."
commit=${1:-}
parts=${CLUSTER_PARTS:-closed open slow alone}
modes=${CLUSTER_MODES:-processes up}
slaves=${CLUSTER_SLAVES:-3}
turns=${CLUSTER_TURNS:-7}
seconds=${CLUSTER_SECONDS:-5}
keywords=${CLUSTER_KEYWORDS:-430000}
rate=${CLUSTER_RATE:-2000}
settings=$(deploy/rocksdb.sh env) # eval would go on without them
eval "$settings"
export GOFLAGS="${GOFLAGS:-} -buildvcs=false"
dir=$(mktemp -d)
first=""
[ "$(nice -n -10 nice 2>/dev/null)" != -10 ] || first="nice -n -10"
declare -A up=() pids=() port=([now]=18520 [before]=18530 [with]=18540) program=([now]=now [before]=before [with]=now)
counted='^[a-z]'
[ -z "${CLUSTER_WITH:-}" ] || counted='^(master|slave)'
stop() {
	local s
	for s in "${!up[@]}"; do kill -TERM "${up[$s]}" 2>/dev/null && wait "${up[$s]}" 2>/dev/null || true; done
	up=()
}
finish() {
	stop
	for s in before now; do git worktree remove --force "$dir/$s.source" 2>/dev/null || true; done
	rm -rf "$dir"
}
trap finish EXIT
trap 'exit 1' INT TERM

# built SIDE COMMIT builds the program of a commit.
built() {
	git worktree add -q --detach "$dir/$1.source" "$2"
	settings=$(deploy/rocksdb.sh other "$dir/$1.source")
	(eval "$settings" && cd "$dir/$1.source" && go build -o "$dir/$1/" ./cmd/adshard)
}
sides=now
mkdir -p "$dir/now" "$dir/before"
go -C bench build -o "$dir/now/" ./cmd/adbench
if [ -n "${CLUSTER_NOW:-}" ]; then built now "$CLUSTER_NOW"; else go build -o "$dir/now/" ./cmd/adshard; fi
if [ -n "$commit" ]; then
	sides="before now"
	built before "$commit"
fi
[ -z "${CLUSTER_WITH:-}" ] || sides="$sides with"
"$dir/now/adbench" corpus --keywords "$keywords" --seed 1 --out "$dir/ads.csv" --queries "$dir/queries.txt" >&2
for s in $sides; do "$dir/${program[$s]}/adshard" import --db "sqlite:$dir/$s.db" "$dir/ads.csv" >&2; done

# start SIDE MODE SLAVES starts a cluster and waits until it is ready.
start() {
	local log=$dir/$1.log args=()
	[ "$2" = up ] || args=(--processes)
	[ "$1" = before ] || args+=(${CLUSTER_ARGS:-})
	[ "$1" != with ] || args+=($CLUSTER_WITH)
	rm -rf "$dir/$1.data"
	: >"$log"
	"$dir/${program[$1]}/adshard" up ${args[@]+"${args[@]}"} --db "sqlite:$dir/$1.db" --slaves "$3" --interval 0s --data "$dir/$1.data" \
		--http "127.0.0.1:${port[$1]}" --admin "127.0.0.1:$((port[$1] + 1))" >"$log" 2>&1 &
	up[$1]=$!
	until grep -q '^ready ' "$log"; do kill -0 "${up[$1]}" || { cat "$log" >&2; exit 1; }; sleep 0.1; done
	pids[$1]=$(grep -E "$counted" "$log" | sed -nE 's/.* pid ([0-9]+).*/\1/p' | paste -sd, -)
	pids[$1]=${pids[$1]:-${up[$1]}}
}
# load SIDE ARGS puts load on a cluster: answers a second, microseconds of processor
# an answer, median, p99 in microseconds, requests without a complete answer.
load() {
	local s=$1
	shift
	$first "$dir/now/adbench" load --addr "http://127.0.0.1:${port[$s]}" --pids "${pids[$s]}" --warmup 1s "$@" |
		tr -d , | awk '/latency median/ { p50 = $3 } /latency p99  / { p99 = $3 } /answers per second/ { n = $4 }
			/processor time of the cluster/ { us = $6 } /^ *(incomplete|refused|failed|overloaded)/ { bad += $(NF-1) }
			/due and not sent/ { bad += $(NF-1) } END { print n, us, p50, p99, bad + 0 }'
}
measure() { # SIDE PART
	local ordinary=(--queries "$dir/queries.txt" --duration "${seconds}s") beside=""
	case $2 in
	closed) load "$1" "${ordinary[@]}" --closed 64 ;;
	open) load "$1" "${ordinary[@]}" --rate "$rate" ;;
	alone) load "$1" "${ordinary[@]}" --rate 0 ;;
	slow)
		"$dir/now/adbench" load --addr "http://127.0.0.1:${port[$1]}" --workload hostile --keywords "$keywords" --rate 0 \
			--params counts=exact --warmup 0s --duration "$((seconds + 2))s" >/dev/null 2>&1 &
		beside=$!
		load "$1" "${ordinary[@]}" --rate "$rate"
		wait $beside
		;;
	esac
}
for mode in $modes; do
	for n in $slaves; do
		for s in $sides; do start "$s" "$mode" "$n"; done
		for s in $sides; do load "$s" --queries "$dir/queries.txt" --duration 3s --closed 64 >/dev/null; done # caches
		for turn in $(seq "$turns"); do
			for part in $parts; do
				order=$sides
				[ $((turn % 2)) = 1 ] || order=$(tr ' ' '\n' <<<"$sides" | tac | paste -sd' ')
				for s in $order; do echo "$mode $n $part $s $(measure "$s" "$part")" | tee -a "$dir/rows" >&2; done
			done
		done
		stop
	done
done

# Medians, and the extremes of all turns.
printf '\n%s, %s keywords, %s turns of %s s, load of the machine at the end %s\n' \
	"${CLUSTER_NOW:-$(git describe --always --dirty --abbrev=7 --exclude='*')}${commit:+ against $commit}" "$keywords" "$turns" "$seconds" "$(cut -d' ' -f1-3 /proc/loadavg)"
printf '%-10s %6s %-7s %-7s %24s %18s %26s %28s %8s\n' mode slaves load side "answers a second" "CPU, us an answer" "median, us" "p99, us" without
sort -s -k1,4 "$dir/rows" | awk '
# spread returns the median of column c, and the extremes.
function spread(c,   i, j, x) {
	for (i = 2; i <= rows; i++) {
		x = v[c, i]
		for (j = i - 1; j >= 1 && v[c, j] > x; j--) v[c, j + 1] = v[c, j]
		v[c, j + 1] = x
	}
	return sprintf("%d (%d to %d)", v[c, int((rows + 1) / 2)], v[c, 1], v[c, rows])
}
function flush() {
	if (rows) printf "%-10s %6s %-7s %-7s %24s %18s %26s %28s %8d\n", k[1], k[2], k[3], k[4], spread(1), spread(2), spread(3), spread(4), bad
	rows = bad = 0
}
{
	key = $1 " " $2 " " $3 " " $4
	if (key != last) { flush(); last = key; split(key, k, " ") }
	rows++
	for (c = 1; c <= 4; c++) v[c, rows] = $(4 + c) + 0
	bad += $9
}
END { flush() }'

[ -n "${CLUSTER_WITH:-}" ] || exit 0
printf '\n%-10s %6s %-7s %-16s %60s\n' mode slaves load difference "CPU, us an answer: median, part, extremes, more in"
for against in now before; do # what the arguments cost, and what the newer program costs without them
	side=$([ "$against" = now ] && echo with || echo now)
	awk -v side="$side" -v against="$against" '$4 == side || $4 == against {
		key = $1 " " $2 " " $3
		cpu[key, $4, ++n[key, $4]] = $6
		keys[key]
	} END { for (key in keys) for (i = 1; i <= n[key, side] && i <= n[key, against]; i++) print key, cpu[key, side, i] - cpu[key, against, i], cpu[key, against, i] }' "$dir/rows" |
		sort -k1,3 -k4,4n | awk -v what="$side - $against" '
	function flush() { if (rows) printf "%-10s %6s %-7s %-16s %60s\n", k[1], k[2], k[3], what,
		sprintf("%.1f, %.1f %% (%.1f to %.1f), %d of %d", d[int((rows + 1) / 2)], 100 * d[int((rows + 1) / 2)] * rows / all, d[1], d[rows], more, rows)
		rows = more = all = 0 }
	{ key = $1 " " $2 " " $3; if (key != last) { flush(); last = key; split(key, k, " ") }; d[++rows] = $4; more += $4 > 0; all += $5 }
	END { flush() }'
done
