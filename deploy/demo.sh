#!/bin/bash
# From a bare Debian with Go and git to a running cluster with answers.
# DEMO_KEYWORDS sets the size of the corpus, DEMO_HTTP and DEMO_ADMIN the addresses.
set -eu -o pipefail
cd "$(dirname "$0")/.."
http=${DEMO_HTTP:-127.0.0.1:8080}
admin=${DEMO_ADMIN:-127.0.0.1:8081}
keywords=${DEMO_KEYWORDS:-100000}
db=sqlite:demo/adshard.db

deploy/setup.sh build
settings=$(deploy/rocksdb.sh env) # eval would go on without them
eval "$settings"
echo "building (the first time takes a few minutes)"
go build -o bin/ ./cmd/...
go -C bench build -o ../bin/ ./cmd/...
mkdir -p demo
made="$keywords specific demo extract" # how the corpus was made
if [ ! -f demo/corpus.done ] || [ "$(cat demo/corpus.done)" != "$made" ]; then
	rm -rf demo/*
	bin/adbench corpus --keywords "$keywords" --seed 1 --specific --demo --data extract --out demo/ads.csv --queries demo/queries.txt
	bin/adshard import --db "$db" demo/ads.csv
	echo "$made" >demo/corpus.done
fi

log=demo/up.log
failed() {
	echo "the cluster has ended; all of its log is in $log" >&2
	grep -v ' level=INFO ' "$log" >&2
	echo "DEMO_HTTP=ADDR and DEMO_ADMIN=ADDR choose other ports; 'make clean' removes the demo's data" >&2
	exit 1
}
: >"$log" # not by the child: the last run's must not be read
# With a process group of its own the cluster gets one signal, ours, and ends
# cleanly; a terminal's Ctrl-C would reach it as well, and a second one kills.
set -m
bin/adshard up --db "$db" --slaves 3 --data demo/data --http "$http" --admin "$admin" >"$log" 2>&1 &
up=$!
set +m
stop() { kill -TERM "$up" 2>/dev/null && wait "$up" || true; }
trap 'echo; echo stopping; exit 0' INT TERM HUP
trap stop EXIT
until grep -q '^ready ' "$log"; do
	kill -0 $up 2>/dev/null || failed
	sleep 0.1
done
grep -E '^(slave|admin|ready) ' "$log"
for q in "usb cable" "wireless keyboard and mouse" "memory card"; do
	printf '\n$ adshard query %s\n' "$q"
	bin/adshard query --addr "http://$http" $q
done
at=""
[ "$http" = 127.0.0.1:8080 ] || at="--addr $http "
printf '\nNow try:  curl '"'"'http://%s/v1/search?q=usb+cable'"'"'\n' "$http"
printf '          bin/adshard query %s--explain usb cable\n' "$at"
printf 'Console:  http://%s/console/   Metrics: http://%s/metrics   Stop: Ctrl-C\n' "$admin" "$admin"
wait $up || failed
