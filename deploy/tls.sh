#!/bin/bash
# Measures what TLS costs: two clusters of separate programs with the same data, one without TLS and
# one with tls.mode and query_tls.mode required, asked in turn with 64 requests always under
# way. Usage: tls.sh. TLS_TURNS, TLS_SECONDS, TLS_SLAVES and TLS_KEYWORDS make it longer or larger;
# TLS_BIN is a directory with the programs, TLS_CORPUS a directory that keeps the data. Nothing
# else should run.
set -eu -o pipefail
cd "$(dirname "$0")/.."
settings=$(deploy/rocksdb.sh env) # eval would go on without them
eval "$settings"
turns=${TLS_TURNS:-7} seconds=${TLS_SECONDS:-5} slaves=${TLS_SLAVES:-3} keywords=${TLS_KEYWORDS:-430000}
export GOFLAGS="${GOFLAGS:-} -buildvcs=false"
dir=$(mktemp -d)
corpus=${TLS_CORPUS:-$dir/corpus} bin=${TLS_BIN:-$dir/bin}
declare -A pids=([plain]="" [tls]="")
finish() {
	local p
	for p in ${pids[plain]} ${pids[tls]}; do kill -TERM "$p" 2>/dev/null || true; done
	wait
	rm -rf "$dir"
}
trap finish EXIT
trap 'exit 1' INT TERM
if [ -z "${TLS_BIN:-}" ]; then
	go build -o "$bin/" ./cmd/...
	go -C bench build -o "$bin/" ./cmd/adbench
fi
if [ ! -e "$corpus/ads.db" ]; then
	mkdir -p "$corpus"
	"$bin/adbench" corpus --keywords "$keywords" --seed 1 --out "$corpus/ads.csv" --queries "$corpus/queries.txt" >&2
	"$bin/adshard" import --db "sqlite:$corpus/ads.db" "$corpus/ads.csv" >&2
fi
"$bin/adshard" cert ca --cluster measured --dir "$dir/certs" >/dev/null
issue() { "$bin/adshard" cert issue "$1" "$2" --dir "$dir/certs" --host 127.0.0.1 >/dev/null; }
issue balancer balancer-0
issue master master-0
for i in $(seq 0 $((slaves - 1))); do issue slave "slave-$i"; done

# run SIDE PROGRAM ROLE.NAME ARGS starts a program and waits until it listens.
run() {
	local side=$1 program=$2 who=$3 log=$dir/$1.$3.log args=()
	shift 3
	[ "$side" = plain ] || args=(--tls-mode required --tls-cert "$dir/certs/$who.crt" --tls-key "$dir/certs/$who.key" --tls-ca "$dir/certs/ca.crt")
	: >"$log"
	"$bin/$program" "$@" ${args[@]+"${args[@]}"} >"$log" 2>&1 &
	pids[$side]+=" $!"
	until grep -qE '^(balancer ready|slave .* listening|master listening) ' "$log"; do kill -0 $! || { cat "$log" >&2; exit 1; }; sleep 0.1; done
}
start() { # SIDE PORT
	local side=$1 port=$2 i query=()
	cp "$corpus/ads.db" "$dir/$side.db"
	[ "$side" = plain ] || query=(--query-tls-mode required --query-tls-cert "$dir/certs/master.master-0.crt" --query-tls-key "$dir/certs/master.master-0.key")
	run "$side" balancer balancer.balancer-0 --db "sqlite:$dir/$side.db" --listen "127.0.0.1:$port" --admin "" --slaves "$slaves" --interval 0s
	for i in $(seq 0 $((slaves - 1))); do
		run "$side" slave "slave.slave-$i" --name "slave-$i" --listen "127.0.0.1:$((port + 10 + i))" --admin "" --dir "$dir/$side.slave-$i" \
			--balancer "127.0.0.1:$port"
	done
	run "$side" master master.master-0 --http "127.0.0.1:$((port + 1))" --admin "" --balancer "127.0.0.1:$port" ${query[@]+"${query[@]}"}
	until grep -q '^ready ' "$dir/$side.master.master-0.log"; do sleep 0.1; done
}
# load SIDE SECONDS prints answers a second, microseconds of processor an answer, median and p99 in
# microseconds, requests without a complete answer.
load() {
	local addr=http://127.0.0.1:18701
	[ "$1" = plain ] || addr=https://127.0.0.1:18801
	"$bin/adbench" load --addr "$addr" --ca "$dir/certs/ca.crt" --queries "$corpus/queries.txt" --pids "$(echo ${pids[$1]} | tr ' ' ,)" \
		--closed 64 --warmup 1s --duration "$2s" |
		tr -d , | awk '/latency median/ { p50 = $3 } /latency p99  / { p99 = $3 } /answers per second/ { n = $4 }
			/processor time of the cluster/ { us = $6 } /^ *(incomplete|refused|failed|overloaded)/ { bad += $(NF-1) }
			END { print n, us, p50, p99, bad + 0 }'
}
start plain 18700
start tls 18800
for side in plain tls; do load $side 3 >/dev/null; done # caches
for turn in $(seq "$turns"); do
	order="plain tls"
	[ $((turn % 2)) = 1 ] || order="tls plain"
	for side in $order; do echo "$turn $side $(load $side "$seconds")" | tee -a "$dir/rows" >&2; done
done
printf '\n%s, %s keywords, %s slaves, %s turns of %s s, load of the machine at the end %s\n' \
	"$(git describe --always --dirty --abbrev=7 --exclude='*')" "$keywords" "$slaves" "$turns" "$seconds" "$(cut -d' ' -f1-3 /proc/loadavg)"
median() { sort -g | awk '{ v[NR] = $1 } END { print NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2 }'; }
for side in plain tls; do
	echo "$side: $(for c in 3 4 5 6 7; do awk -v s=$side -v c=$c '$2 == s { print $c }' "$dir/rows" | median; done | paste -sd' ') (answers/s, CPU us an answer, median us, p99 us, without)"
done
awk '{ n[$1, $2] = $3 } END { for (t = 1; (t, "plain") in n; t++) print n[t, "tls"] / n[t, "plain"] }' "$dir/rows" | sort -g |
	awk '{ v[NR] = $1 } END { printf "answers with TLS over without, in pairs: median %.3f, %.3f to %.3f\n", v[int((NR + 1) / 2)], v[1], v[NR] }'
