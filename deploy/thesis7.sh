#!/bin/bash
# Chapter 7.2 of the thesis, as far as this machine goes: the thesis' layouts, RInK,
# stateful, LInK and ours, at sizes of 1 : 3 : 4.2; writes docs/experiments/thesis7.html,
# thesis7.json and thesis7-cold.json. Build first (make build). THESIS7_KEYWORDS is the
# smallest size (the thesis: 10,000,000), THESIS7_DIR keeps the keywords.
set -eu -o pipefail
cd "$(dirname "$0")/.."
bin=$PWD/bin
out=$PWD/docs/experiments
one=${THESIS7_KEYWORDS:-100000}
dir=${THESIS7_DIR:-$(mktemp -d)}
[ -x "$bin/adbench" ] || { echo "bin/ has no programs; run make build first" >&2; exit 1; }
# HR: all data fit in memory. LR is 4 GB of 6.7 (5S) and of 9.2 (8S); 1S-LR's 2.5 GB fit.
common=(--setups SQ,SQ2,RQ1600 --once=false --rounds 3 --seconds 1 --work "$dir")
"$bin/adbench" search --keywords "$one,$((3 * one)),$((42 * one / 10))" \
	--layouts B,RDB-Pr,RDB-Pr-Opt,RDB-Pr-Pr,RDB-Pr-Pr-Opt,RDB-Pr-Fl,RDB-Pr-NS,RDB-Pr-NS-Opt,RDB-Pr-Fl-Opt,RInK,stateful,LInK,structs,served \
	"${common[@]}" --json "$out/thesis7.json" --html "$out/thesis7.html"
"$bin/adbench" search --keywords "$((3 * one))" --cache-share 0.6 --layouts RDB-Pr,RDB-Pr-Fl,RDB-Pr-Fl-Opt,RDB-Pr-NS-Opt \
	"${common[@]}" --json "$out/thesis7-cold.json"
