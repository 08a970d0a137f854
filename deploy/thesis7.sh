#!/bin/bash
# Chapter 7.2 of the thesis at sizes of 1 : 3 : 4.2: its ten setups, each query up to 20,000
# times in each of three runs, for its layouts, RInK, stateful, LInK and ours; writes
# docs/experiments/thesis7.html and thesis7.json, and of the setups with all in memory, ten
# times as large, thesis7-large.html and thesis7-large.json. Build first (make build).
# Usage: thesis7.sh [PIECE]...; without one, all pieces but full, and then join.
# THESIS7_DIR keeps keywords and results: a piece that is there is not measured again, so
# that a run that was stopped goes on. THESIS7_KEYWORDS is the smallest size (the thesis:
# 10,000,000), THESIS7_LARGE that of the large ones. The piece full has the thesis' own
# size, for a few layouts with fewer executions; it needs 30 GB of disk, 20 GB of memory and hours, and
# writes thesis7-full.html and thesis7-full.json.
# THESIS7_RUNS and THESIS7_LIMIT are runs, and the longest time of a layout on a setup in
# each; THESIS7_OUT is where pages go.
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
lean=RDB-Pr-NS-Opt,RDB-Pr-Fl-Opt,RDB-Pr-Cp-Opt
disk=RDB-Pr,RDB-Pr-In,RDB-Pr-Opt,RDB-Pr-Pr,RDB-Pr-Pr-Opt,RDB-Pr-Fl,RDB-Pr-NS,RDB-Pr-Fl-Told,RDB-Pr-Cp,$lean
memory=RInK,stateful,LInK,structs,served
one=SQ1-1S-HR,RQ1600-1S-HR
eight=SQ1-8S-HR,SQ2-8S-HR,RQ1600-8S-HR

# executions NAME KEYWORDS LIMIT LAYOUTS SETUPS measures a piece, unless it was measured.
executions() {
	[ -s "$dir/$1.json" ] && { echo "== $1 is there" >&2; return; }
	printf '== %s (%d s)\n' "$1" "$SECONDS" >&2
	"$bin/adbench" executions --keywords "$2" --limit "$3" --layouts "$4" --setups "$5" --runs "${THESIS7_RUNS:-3}" --work "$dir" --json "$dir/$1.json"
}
high() { executions high "$small" "${THESIS7_LIMIT:-4s}" "B,$disk,$memory" "$one,SQ1-1S-LR,RQ1600-1S-LR,$eight"; }
low() { executions low "$small" "${THESIS7_LIMIT:-4s}" "$disk" SQ1-5S-LR,SQ2-5S-LR,RQ1600-8S-LR; }
large() { executions large "$large" "${THESIS7_LIMIT:-2s}" "B,$disk,$memory" "$one,$eight"; }
full() { executions full 10000000 "${THESIS7_LIMIT:-20s}" B,RDB-Pr-Opt,RDB-Pr-Pr,RDB-Pr-Fl,RDB-Pr-Fl-Told,RDB-Pr-Fl-Opt "$one,$eight"; }

# joined NAME PIECE... writes a page of pieces.
joined() {
	local files=""
	for piece in "${@:2}"; do files+=${files:+,}$dir/$piece.json; done
	"$bin/adbench" executions --join "$files" --json "$out/$1.json" --html "$out/$1.html"
}
join() {
	joined thesis7 high low
	joined thesis7-large large
	[ ! -s "$dir/full.json" ] || joined thesis7-full full
}

pieces="high low large full"
wanted=${*:-high low large join}
for piece in $wanted; do
	[[ " $pieces join " == *" $piece "* ]] || { echo "there is no piece $piece; there are $pieces join" >&2; exit 2; }
done
for piece in $wanted; do "$piece"; done
