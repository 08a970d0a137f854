#!/bin/bash
# Builds one slave's store of 100,000,000 keywords, opens it and asks it queries: in
# one process, on one thread, and over HTTP, one at a time.
# Usage: huge.sh [DIR]; it takes eight minutes on two free cores, 35 GB of disk in DIR meanwhile
# and 16 GiB of memory. HUGE_KEYWORDS and HUGE_MEMORY make it smaller. What it writes
# in DIR is removed at the end, but for the reports.
set -eu -o pipefail
cd "$(dirname "$0")/.."
bin=$PWD/bin
[ -x "$bin/adbench" ] || { echo "bin/ has no programs; run make build first" >&2; exit 1; }
dir=${1:-$(mktemp -d)}
keywords=${HUGE_KEYWORDS:-100000000}
memory=${HUGE_MEMORY:-16GiB}
mkdir -p "$dir"
free=$(df --output=avail -B1 "$dir" | tail -1)
[ "$free" -gt $((keywords * 350)) ] || { echo "$dir has $free bytes free; $((keywords * 350)) are needed: name another directory" >&2; exit 1; }
server=""
finish() {
	[ -z "$server" ] || { kill -TERM "$server" && wait "$server"; } 2>/dev/null || true
	rm -rf "$dir/store" "$dir/store.building" "$dir/corpus.csv" "$dir/queries.txt" "$dir/serve.log"
}
trap finish EXIT
trap 'exit 1' INT TERM
"$bin/adbench" corpus --keywords 1000 --out "$dir/corpus.csv" --queries "$dir/queries.txt"
nice "$bin/adbench" build --keywords "$keywords" --out "$dir/store" --json "$dir/build.json"
"$bin/adbench" memory --barrels "$dir/store" --queries "$dir/queries.txt" --memory "$memory" --json "$dir/memory.json"
"$bin/adbench" serve --barrels "$dir/store" --memory "$memory" --addr 127.0.0.1:18540 >"$dir/serve.log" &
server=$!
until grep -q '^ready ' "$dir/serve.log"; do kill -0 "$server"; sleep 0.1; done
"$bin/adbench" load --addr http://127.0.0.1:18540 --queries "$dir/queries.txt" --rate 0 --requests 20000 --warmup 0s --duration 10m --json "$dir/load-first.json" # the first pass; memory makes one, too, before it measures
"$bin/adbench" load --addr http://127.0.0.1:18540 --queries "$dir/queries.txt" --rate 0 --requests 20000 --duration 10m --pids "$server" --json "$dir/load.json"
