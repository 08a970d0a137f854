#!/bin/bash
# Measures what docs/figures.md reports, and writes it. Usage: figures.sh [FILE]
# Build first (make build); nothing else should run on the machine meanwhile.
# FIGURES_KEYWORDS, FIGURES_RUNS, FIGURES_SECONDS and FIGURES_RATE make it
# smaller or larger; FIGURES_DIR keeps the data and reports.
set -eu -o pipefail
cd "$(dirname "$0")/.."
out=${1:-docs/figures.md}
keywords=${FIGURES_KEYWORDS:-430000}
runs=${FIGURES_RUNS:-5}
seconds=${FIGURES_SECONDS:-15}
rate=${FIGURES_RATE:-2010}
bin=$PWD/bin
[ -x "$bin/adbench" ] && [ -x "$bin/adshard" ] || { echo "bin/ has no programs; run make build first" >&2; exit 1; }

up=""
stop() { [ -z "$up" ] || { kill -TERM "$up" 2>/dev/null && wait "$up" 2>/dev/null; } || true; up=""; }
if [ -n "${FIGURES_DIR:-}" ]; then
	mkdir -p "$FIGURES_DIR"
	dir=$(cd "$FIGURES_DIR" && pwd)
	trap stop EXIT
else
	dir=$(mktemp -d)
	trap 'stop; rm -rf "$dir"' EXIT
fi
trap 'exit 1' INT TERM
reports=$dir/reports
rm -rf "$reports"
mkdir -p "$reports"
cd "$dir"
commit=$(git -C "$OLDPWD" describe --always --dirty --abbrev=7 --exclude='*' 2>/dev/null || echo unknown)
# step WHAT begins a step, and notes the load of the machine before it.
step() {
	load=$(cut -d' ' -f1-3 /proc/loadavg)
	printf '== %s\n' "$1" >&2
}
began=$(cut -d' ' -f1-3 /proc/loadavg)
# report NAME RUN COMMAND FIGURE VALUE [FIGURE VALUE]... writes a report of numbers.
report() {
	local file=$reports/$1.$2.json name=$1 command=$3 comma=""
	shift 3
	{
		printf '{"name":"%s","command":"%s","commit":"%s","load":"%s","figures":[' "$name" "$command" "$commit" "$load"
		while [ $# -gt 1 ]; do
			printf '%s{"name":"%s","value":%s}' "$comma" "$1" "$2"
			comma=,
			shift 2
		done
		printf ']}\n'
	} >"$file"
}
# rate_of UNIT finds the number before " UNIT/s)" in what a command says.
rate_of() { sed -nE "s|.*\(([0-9]+) $1/s\).*|\1|p"; }
bytes() { du -sB1 "$@" | awk '{n += $1} END {print n}'; }
per_keyword() { awk -v n="$1" -v k="$keywords" 'BEGIN {printf "%.1f", n / k}'; }
now() { date +%s.%N; }
since() { awk -v a="$1" -v b="$(now)" 'BEGIN {printf "%.3f", b - a}'; }
# start ARGS... starts a cluster of three slaves, and sets took to the seconds
# until it was ready, pids to its processes.
start() {
	local began
	began=$(now)
	: >up.log
	"$bin/adshard" up --db sqlite:ads.db --slaves 3 --http 127.0.0.1:18480 --admin 127.0.0.1:18481 "$@" >up.log 2>up.err &
	up=$!
	until grep -q '^ready ' up.log; do
		kill -0 $up 2>/dev/null || { cat up.log up.err >&2; exit 1; }
		sleep 0.02
	done
	took=$(since "$began")
	pids=$(sed -nE 's/.* pid ([0-9]+).*/\1/p' up.log | paste -sd, -)
	pids=${pids:-$up}
}
ask() { "$bin/adbench" "$@" --addr http://127.0.0.1:18480 --json "$reports/$json.json" >&2; }

step "corpus of $keywords keywords"
"$bin/adbench" corpus --keywords "$keywords" --seed 1 --force --out ads.csv --queries queries.txt >&2

for i in $(seq "$runs"); do
	step "import, run $i"
	rm -f ads.db*
	said=$("$bin/adshard" import --db sqlite:ads.db ads.csv)
	report import "$i" "adshard import --db sqlite:ads.db ads.csv" rows "$(rate_of rows <<<"$said")"
done
step "import again"
said=$("$bin/adshard" import --db sqlite:ads.db ads.csv)
report import-again 1 "adshard import --db sqlite:ads.db ads.csv" rows "$(rate_of rows <<<"$said")"

for slaves in 1 3; do
	group=build
	[ $slaves = 1 ] || group=build-3
	for i in $(seq "$runs"); do
		step "barrels build for $slaves, run $i"
		rm -rf "built-$slaves"
		said=$("$bin/adshard" barrels build --db sqlite:ads.db --slaves $slaves --out "built-$slaves")
		report $group "$i" "adshard barrels build --db sqlite:ads.db --slaves $slaves --out built" \
			keywords "$(rate_of keywords <<<"$said")"
	done
done

step "one store"
"$bin/adbench" store --barrels built-1/slave-0 --queries queries.txt --rounds $((2 * runs)) --json "$reports/store.json" >&2
"$bin/adbench" store --barrels built-1/slave-0 --queries queries.txt --rounds "$runs" --exact --json "$reports/store-exact.json" >&2

step "first fill"
rm -rf data
start --data data
filled=$took
stop

disk=$(bytes built-3)
step "cluster in one process"
start --barrels built-3
report up 1 "adshard up --db sqlite:ads.db --slaves 3 (--data data or --barrels built)" "first fill" "$filled" "start on stores" "$took"
for i in $(seq "$runs"); do
	json=alone.$i ask load --queries queries.txt --rate 0 --duration 5s --pids "$pids"
	json=load.$i ask load --queries queries.txt --rate "$rate" --duration "${seconds}s" --seed "$i" --pids "$pids"
done
json=fresh ask fresh --db sqlite:ads.db --admin http://127.0.0.1:18481
stop

step "cluster of five processes"
start --barrels built-3 --processes
for i in $(seq "$runs"); do
	json=alone-processes.$i ask load --queries queries.txt --rate 0 --duration 5s --pids "$pids"
	json=load-processes.$i ask load --queries queries.txt --rate "$rate" --duration "${seconds}s" --seed "$i" --pids "$pids"
done

step "memory and disk"
memory() { # FIELD: of all slaves, in bytes
	sed -nE 's/^slave .* pid ([0-9]+) .*/\1/p' up.log | while read -r p; do
		awk -v f="$1:" '$1 == f {print $2 * 1024}' "/proc/$p/status"
	done | awk '{n += $1} END {print n}'
}
report size 1 "VmRSS and RssAnon of the slaves in /proc after the load; du of the stores and of ads.db" \
	"slaves, memory per keyword" "$(per_keyword "$(memory VmRSS)")" \
	"slaves, anonymous memory per keyword" "$(per_keyword "$(memory RssAnon)")" \
	"stores, disk per keyword" "$(per_keyword "$disk")" \
	"database, disk per keyword" "$(per_keyword "$(bytes ads.db)")"

stop

cd - >/dev/null
{
	cat <<'EOF'
# Figures

`make figures` writes the first table and its commands: medians and extremes of all runs. Latencies of the open loop count from when a query was due. All processes, the load generator too, run on the
machine named here.

EOF
	"$bin/adbench" figures --reports "$reports"
	cat <<EOF

The corpus: \`adbench corpus --keywords $keywords --seed 1\`, $(wc -l <"$dir/queries.txt") queries in the order of the file.
Commit $commit; load of the machine before the first run: $began, when the last one ended: $(cut -d' ' -f1-3 /proc/loadavg).
EOF
	echo
	# Keyword search side by side is measured by search.sh, and kept.
	sed -n '/^## Keyword search side by side/,$p' "$out" 2>/dev/null || true
} >"$dir/figures.md"
cp "$dir/figures.md" "$out"
cat "$out"
