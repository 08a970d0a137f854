#!/bin/bash
# Measures what `adshard size` computes with, and compares its predictions with grids of
# shards x replicas on this machine. Usage: grid.sh [FIGURES]
# Writes the figures to the file (figures.json), and prints the comparison.
# Build first (make build); nothing else should run on the machine meanwhile.
# GRID_KEYWORDS, GRID_RATE, GRID_TURNS and GRID_SECONDS change the grids; GRID_SIZES are
# the stores whose searches are timed, the last one with less and less memory; GRID_CURVE
# is how much; GRID_DIR keeps data and reports. GRID_QUIET is a command before each
# measurement, which waits until nothing else runs.
set -eu -o pipefail
out=$(realpath -m "${1:-figures.json}")
cd "$(dirname "$0")/.."
keywords=${GRID_KEYWORDS:-430000}
rate=${GRID_RATE:-1500}
turns=${GRID_TURNS:-3}
seconds=${GRID_SECONDS:-4}
sizes=${GRID_SIZES:-100000 1000000 10000000}
curve=${GRID_CURVE:-30,60,120,250}
quiet=${GRID_QUIET:-}
bin=${GRID_BIN:-$PWD/bin}
[ -x "$bin/adbench" ] && [ -x "$bin/adshard" ] || { echo "$bin has no programs; run make build first" >&2; exit 1; }
if [ -n "${GRID_DIR:-}" ]; then
	mkdir -p "$GRID_DIR"
	dir=$(cd "$GRID_DIR" && pwd)
else
	dir=$(mktemp -d)
	trap 'rm -rf "$dir"' EXIT
fi
trap 'exit 1' INT TERM
cd "$dir"
step() { printf '== %s\n' "$1" >&2; }

if [ ! -e ads.db ]; then
	step "corpus of $keywords keywords"
	"$bin/adbench" corpus --keywords "$keywords" --seed 1 --out ads.csv --queries queries.txt >&2
	"$bin/adshard" import --db sqlite:part.db ads.csv >&2
	mv part.db ads.db
fi
for n in $sizes; do
	[ -e "store-$n" ] || { step "store of $n keywords"; "$bin/adbench" build --keywords "$n" --out "store-$n" >&2; }
done
step "grids"
$quiet "$bin/adbench" grid --db sqlite:ads.db --queries queries.txt --rate "$rate" --turns "$turns" --duration "${seconds}s" --json grid.json >&2
searches=""
for n in $sizes; do
	step "searches of $n keywords"
	$quiet "$bin/adbench" memory --barrels "store-$n" --queries queries.txt --json "searches-$n.json" >/dev/null
	searches=$searches,searches-$n.json
done
step "less and less memory"
$quiet "$bin/adbench" memory --barrels "store-$n" --queries queries.txt --curve "$curve" --json curve.json >/dev/null
"$bin/adbench" sizing --grid grid.json --searches "${searches#,}" --curve curve.json --out "$out"
