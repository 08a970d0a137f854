#!/bin/bash
# Measures how much slower queries are while slices move. Usage: moves.sh [STRATEGY...]
# Build first (make build). Starts a cluster of processes, measures its peak, drains a
# slave, and alternates, at 30 % of it: no moves, then each strategy (random, the one that moves
# most, and weighted-move), and waits in between until nothing moves. MOVES_KEYWORDS, MOVES_SLAVES,
# MOVES_ROUNDS and MOVES_SECONDS make it smaller or larger; MOVES_DIR keeps the data;
# MOVES_BIN names other programs, so that two builds can be compared on the same data.
set -eu -o pipefail
cd "$(dirname "$0")/.."
keywords=${MOVES_KEYWORDS:-300000}
slaves=${MOVES_SLAVES:-5}
rounds=${MOVES_ROUNDS:-7}
seconds=${MOVES_SECONDS:-12}
bin=${MOVES_BIN:-$PWD/bin}
strategies=${*:-random weighted-move}
[ -x "$bin/adbench" ] && [ -x "$bin/adshard" ] || { echo "$bin has no programs; run make build first" >&2; exit 1; }

up=""
stop() { [ -z "$up" ] || { kill -TERM "$up" 2>/dev/null && wait "$up" 2>/dev/null; } || true; up=""; }
if [ -n "${MOVES_DIR:-}" ]; then
	mkdir -p "$MOVES_DIR"
	dir=$(cd "$MOVES_DIR" && pwd)
	trap stop EXIT
else
	dir=$(mktemp -d)
	trap 'stop; rm -rf "$dir"' EXIT
fi
trap 'exit 1' INT TERM
cd "$dir"

if [ ! -e ads.db ]; then
	"$bin/adbench" corpus --keywords "$keywords" --seed 1 --out ads.csv --queries queries.txt >&2
	"$bin/adshard" import --db sqlite:ads.db ads.csv >&2
	cp ads.db fresh.db
fi
cp fresh.db ads.db
rm -rf data ads.db-wal ads.db-shm
"$bin/adshard" up --db sqlite:ads.db --slaves "$slaves" --processes --strategy original --order advertiser --interval 1s --data data \
	--http 127.0.0.1:18490 --admin 127.0.0.1:18491 >up.log 2>up.err &
up=$!
until grep -q '^ready ' up.log; do
	kill -0 $up 2>/dev/null || { cat up.log up.err >&2; exit 1; }
	sleep 0.05
done
pids=$(sed -nE 's/.* pid ([0-9]+).*/\1/p' up.log | paste -sd, -)
strategy() { "$bin/adshard" balance strategy "$@" --addr 127.0.0.1:18491 >/dev/null; }
status() { "$bin/adshard" balance status --json --addr 127.0.0.1:18491; }
moved() { status | sed -nE 's/.*"moved": *\{"moves": *([0-9]+).*/\1/p'; }
# used prints the processor time that the cluster has used, in hundredths of a second.
used() { for pid in ${pids//,/ }; do cut -d' ' -f14,15 "/proc/$pid/stat"; done | awk '{n += $1 + $2} END {print n}'; }
# settle waits until nothing moves, and what moved away has been deleted: until the
# cluster, which is asked nothing, has used less than a tenth of a processor for a second.
settle() {
	local before after
	for _ in $(seq 120); do
		before=$(used)
		sleep 1
		after=$(used)
		[ $((after - before)) -ge 10 ] || [[ $(status) != *'"moves_in_flight":[]'* ]] || return 0
	done
	echo "the cluster does not come to rest: $((after - before)) hundredths of a processor are in use" >&2
	exit 1
}
load() { "$bin/adbench" load --queries queries.txt --addr http://127.0.0.1:18490 --pids "$pids" "$@"; }
# figure NAME finds a figure in a report.
figure() { sed -nE 's/.*"name": *"'"$1"'", *"value": *([0-9.e+]+).*/\1/p' | head -1; }
median() { sort -g | awk '{v[NR] = $1} END {print v[int((NR + 1) / 2)]}'; }

settle
peak=$(load --closed 16 --duration 8s --json report.json >/dev/null; tr -d '\n' <report.json | sed 's/}/}\n/g' | figure 'answers per second')
rate=$(awk -v p="$peak" 'BEGIN {printf "%d", p * 0.3}')
echo "peak $peak answers/s; measured at $rate/s"
# The drain comes first, while there are few slices.
rest=$(load --rate "$rate" --duration "${seconds}s" --json report.json >/dev/null; tr -d '\n' <report.json | sed 's/}/}\n/g' | figure 'latency p99')
began=$(date +%s.%N)
"$bin/adshard" slaves drain slave-0 --addr 127.0.0.1:18491 >/dev/null &
draining=$!
load --rate "$rate" --duration "${seconds}s" --json report.json >/dev/null
p99=$(tr -d '\n' <report.json | sed 's/}/}\n/g' | figure 'latency p99')
wait $draining
awk -v a="$began" -v b="$(date +%s.%N)" -v p="$p99" -v r="$rest" 'BEGIN {printf "drain: %.1f s; p99 of its first part %.0f µs, at rest %.0f µs: %.2f times\n", b - a, p, r, p / r}'
settle
"$bin/adshard" slaves add "$(sed -nE 's/^slave 0 pid [0-9]+ listening //p' up.log)" --addr 127.0.0.1:18491 >/dev/null
settle
rm -f ./*.p99
for round in $(seq "$rounds"); do
	for s in original $strategies; do
		strategy "$s"
		[ "$s" = original ] || sleep 2
		before=$(moved)
		load --rate "$rate" --duration "${seconds}s" --seed "$round" --json report.json >/dev/null
		p99=$(tr -d '\n' <report.json | sed 's/}/}\n/g' | figure 'latency p99')
		cpu=$(tr -d '\n' <report.json | sed 's/}/}\n/g' | figure 'processor used by the cluster')
		echo "$p99" >>"$s.p99"
		echo "round $round: $s: p99 $p99 µs, $(($(moved) - before)) moves, $cpu cores"
		if [ "$s" != original ]; then
			strategy original
			settle
		fi
	done
done
rest=$(median <original.p99)
for s in $strategies; do
	moving=$(median <"$s.p99")
	spread=$(paste original.p99 "$s.p99" | awk '{print $2 / $1}' | sort -g | awk '{v[NR] = $1} END {printf "%.2f to %.2f", v[1], v[NR]}')
	awk -v s="$s" -v m="$moving" -v r="$rest" -v t="$spread" 'BEGIN {printf "%s: p99 %.0f µs, at rest %.0f µs: %.2f times (each round with its own rest: %s)\n", s, m, r, m / r, t}'
done
