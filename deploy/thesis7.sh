#!/bin/bash
# Chapter 7.2 of the thesis at sizes of 1 : 3 : 4.2: its ten setups, each query 20,000
# times, for its layouts, RInK, stateful, LInK and ours; writes docs/experiments/thesis7.html
# and thesis7.json, and of the setups with all in memory, ten times as large,
# thesis7-large.html and thesis7-large.json. Usage: thesis7.sh [PIECE]...; without one, all
# pieces and then join. Build first (make build). THESIS7_KEYWORDS is the smallest size (the
# thesis: 10,000,000), THESIS7_LARGE that of the large ones; THESIS7_DIR keeps the keywords,
# and the results of pieces for join; THESIS7_OUT is where pages go.
set -eu -o pipefail
cd "$(dirname "$0")/.."
bin=$PWD/bin
out=${THESIS7_OUT:-$PWD/docs/experiments}
small=${THESIS7_KEYWORDS:-100000}
large=${THESIS7_LARGE:-1000000}
[ -x "$bin/adbench" ] || { echo "bin/ has no programs; run make build first" >&2; exit 1; }
if [ -n "${THESIS7_DIR:-}" ]; then
	mkdir -p "$THESIS7_DIR"
	dir=$THESIS7_DIR
else
	[ $# = 0 ] || { echo "THESIS7_DIR is not set: name a directory that keeps the pieces' results" >&2; exit 2; }
	dir=$(mktemp -d)
	trap 'rm -rf "$dir"' EXIT
fi
mkdir -p "$out"
direct=RDB-Pr,RDB-Pr-Opt,RDB-Pr-Pr
prepared=RDB-Pr-Pr-Opt,RDB-Pr-Fl,RDB-Pr-NS,RDB-Pr-Cp
lean=RDB-Pr-NS-Opt,RDB-Pr-Fl-Opt,RDB-Pr-Cp-Opt
memory=RInK,stateful,LInK,structs,served
eight=SQ1-8S-HR,SQ2-8S-HR,RQ1600-8S-HR

# executions NAME KEYWORDS LAYOUTS SETUPS [FLAG]... measures a piece.
executions() {
	printf '== %s (%d s)\n' "$1" "$SECONDS" >&2
	"$bin/adbench" executions --keywords "$2" --layouts "$3" --setups "$4" --work "$dir" --json "$dir/$1.json" "${@:5}"
}
# Of the large ones, and from the disk, some queries take milliseconds: then there are fewer executions.
limit="--limit 60s"
small_pieces="one eight low-sq low-direct low-prepared low-lean"
large_pieces="large-one large-direct large-prepared large-lean"
one() { executions one "$small" "B,$direct,$prepared,$lean,$memory" SQ1-1S-HR,SQ1-1S-LR,RQ1600-1S-HR,RQ1600-1S-LR; }
eight() { executions eight "$small" "B,$direct,$prepared,$lean,$memory" $eight; }
low-sq() { executions low-sq "$small" "$direct,$prepared,$lean" SQ1-5S-LR,SQ2-5S-LR; }
low-direct() { executions low-direct "$small" "$direct" RQ1600-8S-LR $limit; }
low-prepared() { executions low-prepared "$small" "$prepared" RQ1600-8S-LR $limit; }
low-lean() { executions low-lean "$small" "$lean" RQ1600-8S-LR $limit; }
large-one() { executions large-one "$large" "B,$direct,$prepared,$lean,$memory" SQ1-1S-HR,RQ1600-1S-HR; }
large-direct() { executions large-direct "$large" "$direct" $eight $limit; }
large-prepared() { executions large-prepared "$large" "$prepared" $eight $limit; }
large-lean() { executions large-lean "$large" "B,$lean,$memory" $eight $limit; }

# joined NAME PIECE... writes a page of pieces.
joined() {
	local files=""
	for piece in "${@:2}"; do files+=${files:+,}$dir/$piece.json; done
	"$bin/adbench" executions --join "$files" --json "$out/$1.json" --html "$out/$1.html"
}
join() {
	joined thesis7 $small_pieces
	joined thesis7-large $large_pieces
}

wanted=${*:-$small_pieces $large_pieces join}
for piece in $wanted; do
	[[ " $small_pieces $large_pieces join " == *" $piece "* ]] || { echo "there is no piece $piece; there are $small_pieces $large_pieces join" >&2; exit 2; }
done
for piece in $wanted; do "$piece"; done
