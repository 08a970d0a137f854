#!/bin/bash
# Measures keyword search side by side: JSON and pages docs/experiments/search-*.
# Usage: search.sh [PIECE]...; without one, all pieces, which takes hours.
# Build first (make build), and install the systems it is compared with (make
# peers): what is missing is left out. Nothing else should run on the machine.
# SEARCH_KEYWORDS, SEARCH_LARGE, SEARCH_HUGE, SEARCH_SECONDS and SEARCH_ROUNDS make
# it smaller or larger; SEARCH_DIR keeps the keywords; SEARCH_OUT is where results go.
set -eu -o pipefail
cd "$(dirname "$0")/.."
settings=$(deploy/rocksdb.sh env) # eval would go on without them
eval "$settings"
bin=$PWD/bin
keywords=${SEARCH_KEYWORDS:-1000000}
large=${SEARCH_LARGE:-4300000}
huge=${SEARCH_HUGE:-10000000}
seconds=${SEARCH_SECONDS:-10}
rounds=${SEARCH_ROUNDS:-5}
out=${SEARCH_OUT:-$PWD/docs/experiments}
[ -x "$bin/adbench" ] && [ -x "$bin/adshard" ] || { echo "bin/ has no programs; run make build first" >&2; exit 1; }
if [ -n "${SEARCH_DIR:-}" ]; then
	mkdir -p "$SEARCH_DIR"
	dir=$(cd "$SEARCH_DIR" && pwd)
else
	dir=$(mktemp -d)
	trap 'rm -rf "$dir"' EXIT
fi
trap 'exit 1' INT TERM
mkdir -p "$out"
out=$(cd "$out" && pwd)
PATH=$bin:$PATH
# search NAME ARGS... measures, and keeps the result under a name.
search() {
	local name=$1
	shift
	printf '== %s: adbench search %s\n' "$name" "$*" >&2
	adbench search "$@" --rounds "$rounds" --work "$dir" --json "$out/search-$name.json" --html "$out/search-$name.html"
}

# All layouts and peers find the same matches, and how fast.
matches() {
	search matches --keywords "$keywords" --layouts all --peers all --setups all --query-count 500 --seconds "$seconds"
}
# The product, its limit, the thesis' best and today's systems.
served() {
	local ours=served,served-top,served-expanded,served-prepared,served-mixed,floor,RDB-Pr-Fl-Opt,B
	search served --keywords "$keywords" --layouts $ours --peers all --setups log --seconds "$seconds"
	search served-large --keywords "$large" --layouts $ours --setups log --seconds "$seconds"
	search served-many --keywords "$keywords" --layouts $ours --setups log --query-count 20000 --seconds $((2 * seconds))
}
# Ten times the keywords, a thousand times the matches.
growth() {
	search growth --keywords "$((keywords / 10)),$keywords,$huge" --layouts served,served-top,structs,floor \
		--setups log,words,matches,four --seconds "$seconds"
}
# Bytes a keyword, and opening a large store.
space() {
	search space --keywords "$huge" --layouts served --seconds "$seconds"
	(
		cd "$dir"
		[ -e huge.db ] || {
			adbench corpus --keywords "$huge" --seed 1 --force --out huge.csv --queries huge.txt >&2
			adshard import --db sqlite:huge.db huge.csv >&2
		}
		rm -rf huge
		adshard barrels build --db sqlite:huge.db --slaves 1 --out huge >&2
		adbench store --barrels huge/slave-0 --queries huge.txt --rounds "$rounds" --json "$out/search-store.json"
	)
}
# Larger than memory.
cold() {
	search cold --keywords "$keywords" --layouts served,served-top,RDB-Pr-Fl-Opt --setups log,hot,matches --cache-share 0.1 --seconds "$seconds"
}
# Keywords change meanwhile: by the clock, a minute each time, and by searches.
changes() {
	search changes --keywords "$keywords" --layouts served,served-top --change-rate 50000 --seconds $((60 * rounds))
	search changes-10 --keywords "$keywords" --layouts served,served-top,PebbleDB,structs --changes 10 --seconds "$seconds"
	search changes-50 --keywords "$keywords" --layouts served,served-top,PebbleDB,structs --changes 50 --seconds "$seconds"
}
# All cores.
threads() {
	search threads --keywords "$keywords" --layouts served,served-top,floor,RDB-Pr-Fl-Opt --peers all --setups log,hot --threads all --seconds "$seconds"
}
# Keywords for which anchors are useless.
bad() {
	for set in shared-word only-common one-advertiser; do
		search "bad-$set" --set $set --keywords "$keywords" --layouts served,served-top,structs,floor,RDB-Pr-Fl-Opt \
			--setups log,hot,stop --query-count 500 --seconds "$seconds"
	done
}
# The cost of counting load and of certificates.
balancer() {
	go test ./barrels/rocks -run xxx -bench 'Counting|Certify' -benchtime 1x -count "$rounds" -args -keywords=430000 |
		tee "$out/search-balancer.txt"
}

[ $# -gt 0 ] || set -- matches served growth space cold changes threads bad balancer
for piece; do
	case $piece in
	matches | served | growth | space | cold | changes | threads | bad | balancer) $piece ;;
	*) echo "there is no piece $piece: matches, served, growth, space, cold, changes, threads, bad or balancer" >&2; exit 2 ;;
	esac
done

# The runs so far on the keywords of a corpus, of whatever piece, as one page, and
# compared with the targets. Those of bad stay apart, since their rows have the same
# names; what adbench store and go test measured is not of that form.
results=()
for name in served served-large served-many growth matches space cold changes changes-10 changes-50 threads; do
	[ ! -e "$out/search-$name.json" ] || results+=("$out/search-$name.json")
done
[ ${#results[@]} = 0 ] ||
	adbench search --join "$(IFS=,; echo "${results[*]}")" --html "$out/search.html" --points "$out/search-points.md" >/dev/null
