#!/bin/bash
# The latencies of answers after a slave was killed, against those before: restart.sh
# Turn by turn 500 requests a second are offered for ten seconds, then a slave is killed (adshard up
# starts it again) and they are offered for ten seconds more, from when all answers are whole again.
# RESTART_TURNS, RESTART_KEYWORDS and RESTART_SLAVES change it. Nothing else should run.
set -eu -o pipefail
cd "$(dirname "$0")/.."
settings=$(deploy/rocksdb.sh env) # eval would go on without them
eval "$settings"
turns=${RESTART_TURNS:-5}
keywords=${RESTART_KEYWORDS:-1000000}
export GOFLAGS="${GOFLAGS:-} -buildvcs=false"
dir=$(mktemp -d)
address=127.0.0.1:18560
up=
finish() {
	[ -z "$up" ] || { kill -TERM "$up" 2>/dev/null && wait "$up" 2>/dev/null || true; }
	rm -rf "$dir"
}
trap finish EXIT
trap 'exit 1' INT TERM
go build -o "$dir/" ./cmd/adshard
go -C bench build -o "$dir/" ./cmd/adbench
"$dir/adbench" corpus --keywords "$keywords" --seed 1 --out "$dir/ads.csv" --queries "$dir/queries.txt" >&2
"$dir/adshard" import --db "sqlite:$dir/ads.db" "$dir/ads.csv" >&2
"$dir/adshard" up --processes --db "sqlite:$dir/ads.db" --slaves "${RESTART_SLAVES:-1}" --interval 0s --data "$dir/data" \
	--http $address --admin 127.0.0.1:18561 >"$dir/log" 2>&1 &
up=$!
until grep -q '^ready ' "$dir/log"; do kill -0 $up || { cat "$dir/log" >&2; exit 1; }; sleep 0.1; done

# load ARGS: median and p99 in microseconds, requests without a complete answer
load() {
	"$dir/adbench" load --addr "http://$address" --queries "$dir/queries.txt" --warmup 0s "$@" |
		tr -d , | awk '/latency median/ { p50 = $3 } /latency p99  / { p99 = $3 }
			/^ *(incomplete|refused|failed|overloaded)/ { bad += $(NF-1) } /due and not sent/ { bad += $(NF-1) } END { print p50, p99, bad + 0 }'
}
slave() { sed -nE 's/^slave.* pid ([0-9]+).*/\1/p' "$dir/log" | tail -1; }
whole() { curl -sf "http://$address/v1/search?q=usb+cable&strict=true" >/dev/null; }
load --closed 64 --duration 10s >/dev/null # caches
echo "turn   before: median, p99, not whole   after: median, p99, not whole (us)   p99, of that before"
for turn in $(seq "$turns"); do
	read -r m0 p0 b0 <<<"$(load --rate 500 --duration 10s --seed "$turn")"
	old=$(slave)
	kill -KILL "$old"
	until ! whole; do sleep 0.01; done
	until whole; do sleep 0.01; done
	read -r m1 p1 b1 <<<"$(load --rate 500 --duration 10s --seed "$((100 + turn))")"
	echo "$turn $m0 $p0 $b0 $m1 $p1 $b1 $(awk "BEGIN { print $p1 / $p0 }")"
done | tee "$dir/rows"
awk '{ print $NF }' "$dir/rows" | sort -n | awk '{ v[NR] = $1 } END { printf "p99 after a restart, of that before: median %.2f (%.2f to %.2f)\n", v[int((NR + 1) / 2)], v[1], v[NR] }'
