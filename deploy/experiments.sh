#!/bin/bash
# The comparisons of docs/experiments.md: pages and numbers in docs/experiments/.
# `adbench balance --from NAME.json --html NAME.html` makes a page anew.
# Build first (make build). EXPERIMENTS_DIR keeps corpora and what queries cost
# on them; EXPERIMENTS_KEYWORDS is the size of the thesis' corpus.
set -eu -o pipefail
cd "$(dirname "$0")/.."
bin=$PWD/bin
out=$PWD/docs/experiments
keywords=${EXPERIMENTS_KEYWORDS:-8500000}
[ -x "$bin/adbench" ] && [ -x "$bin/adshard" ] || { echo "bin/ has no programs; run make build first" >&2; exit 1; }
if [ -n "${EXPERIMENTS_DIR:-}" ]; then
	mkdir -p "$EXPERIMENTS_DIR"
	dir=$(cd "$EXPERIMENTS_DIR" && pwd)
else
	dir=$(mktemp -d)
	trap 'rm -rf "$dir"' EXIT
fi
mkdir -p "$out" "$dir/thesis" "$dir/small"
compare() { # NAME ARGS...
	local name=$1
	shift
	printf '== %s\n' "$name" >&2
	"$bin/adbench" balance "$@" --html "$out/$name.html" --json "$out/$name.json" | tee "$out/$name.txt"
}
thesis=(--work "$dir/thesis" --keywords "$keywords" --group-keywords 34 --slaves 3 --simulate --interval 5s)
compare thesis-single --workload single --duration 40s --rate 100 --strategies original,random,weighted-move "${thesis[@]}"
compare thesis-production --workload production --duration 120s --rate 200 --strategies original,random,weighted-move "${thesis[@]}"
small=(--work "$dir/small" --keywords 300000)
compare shift-simulated --workload shift:75s --strategies original,random,weighted-move,weighted-move-fast \
	--initial original --slaves 10 --simulate --interval 5s --duration 150s --rate 200 "${small[@]}"
compare shift --workload shift:45s --strategies original,random,weighted-move,weighted-move-fast \
	--initial original --slaves 5 --interval 5s --duration 90s --rate 150 "${small[@]}"
compare study --study --order advertiser --workload real,production,single,hostile "${small[@]}"
all=(--study --strategies all --iteration --study-slaves 3,10,30,100,300 --workload shift,zipf:1.2,advertiser,hostile)
compare strategies "${all[@]}" "${small[@]}"
compare strategies-hash "${all[@]}" --order hash "${small[@]}"
for paper in split esdb; do
	printf '== %s\n' "$paper" >&2
	"$bin/adbench" "$paper" --html "$out/$paper.html" --json "$out/$paper.json" | tee "$out/$paper.txt"
done
