#!/bin/bash
# Chapter 7.2 of the thesis at sizes of 1 : 3 : 4.2: its ten setups, each query 20,000
# times, for its layouts, RInK, stateful, LInK and ours; writes docs/experiments/thesis7.html
# and thesis7.json. Usage: thesis7.sh [PIECE]...; without one, all pieces and then join.
# Build first (make build). THESIS7_KEYWORDS is the smallest size (the thesis: 10,000,000);
# THESIS7_DIR keeps the keywords, and the results of pieces for join.
set -eu -o pipefail
cd "$(dirname "$0")/.."
bin=$PWD/bin
out=$PWD/docs/experiments
one=${THESIS7_KEYWORDS:-1000000}
[ -x "$bin/adbench" ] || { echo "bin/ has no programs; run make build first" >&2; exit 1; }
if [ -n "${THESIS7_DIR:-}" ]; then
	mkdir -p "$THESIS7_DIR"
	dir=$THESIS7_DIR
else
	dir=$(mktemp -d)
	trap 'rm -rf "$dir"' EXIT
	[ $# = 0 ] || { echo "THESIS7_DIR is not set: name a directory that keeps the pieces' results" >&2; exit 2; }
fi
direct=RDB-Pr,RDB-Pr-Opt,RDB-Pr-Pr
prepared=RDB-Pr-Pr-Opt,RDB-Pr-Fl,RDB-Pr-NS,RDB-Pr-Cp
lean=RDB-Pr-NS-Opt,RDB-Pr-Fl-Opt,RDB-Pr-Cp-Opt
memory=RInK,stateful,LInK,structs,served

# executions NAME LAYOUTS SETUPS measures a piece.
executions() {
	printf '== %s (%d s)\n' "$1" "$SECONDS" >&2
	"$bin/adbench" executions --keywords "$one" --limit 60s --work "$dir" --layouts "$2" --setups "$3" --json "$dir/$1.json"
}
high=SQ1-8S-HR,SQ2-8S-HR,RQ1600-8S-HR
pieces="one five eight-direct eight-prepared eight-lean low-direct low-prepared low-lean"
one() { executions one "B,$direct,$prepared,$lean,$memory" SQ1-1S-HR,SQ1-1S-LR,RQ1600-1S-HR,RQ1600-1S-LR; }
five() { executions five "$direct,$prepared,$lean" SQ1-5S-LR,SQ2-5S-LR; }
eight-direct() { executions eight-direct "$direct" $high; }
eight-prepared() { executions eight-prepared "$prepared" $high; }
eight-lean() { executions eight-lean "B,$lean,$memory" $high; }
low-direct() { executions low-direct "$direct" RQ1600-8S-LR; }
low-prepared() { executions low-prepared "$prepared" RQ1600-8S-LR; }
low-lean() { executions low-lean "$lean" RQ1600-8S-LR; }
join() {
	local files=""
	for piece in $pieces; do files+=${files:+,}$dir/$piece.json; done
	"$bin/adbench" executions --join "$files" --json "$out/thesis7.json" --html "$out/thesis7.html"
}

wanted=${*:-$pieces join}
for piece in $wanted; do
	[[ " $pieces join " == *" $piece "* ]] || { echo "there is no piece $piece; there are $pieces join" >&2; exit 2; }
done
for piece in $wanted; do "$piece"; done
