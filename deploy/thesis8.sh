#!/bin/bash
# Chapter 8 of the thesis on real processes: writes docs/experiments/thesis8.html and
# thesis8.json. Build first (make build); nothing else should run meanwhile.
# THESIS8_KEYWORDS is the size (the thesis: 8,500,000 in 250,000 groups, the default);
# THESIS8_DIR keeps the database for the next time, THESIS8_OUT is where pages go. Each row is measured THESIS8_RUNS times
# (5), and after each pass nothing is asked for THESIS8_PAUSE (2s), so that iterations of the
# strategy, one a second, fall between passes; THESIS8_PASSES are those recorded (1,3,5,100).
# Before the first pass the log is another one for THESIS8_BEFORE passes (10), so that strategies
# that follow the load find it shifted. That takes hours; THESIS8_KEYWORDS=100000 THESIS8_RUNS=1
# THESIS8_PASSES=1,3 THESIS8_PAUSE=100ms some minutes.
set -eu -o pipefail
cd "$(dirname "$0")/.."
bin=$PWD/bin
out=${THESIS8_OUT:-$PWD/docs/experiments}
[ -x "$bin/adbench" ] && [ -x "$bin/adshard" ] || { echo "bin/ has no programs; run make build first" >&2; exit 1; }
"$bin/adbench" passes --keywords "${THESIS8_KEYWORDS:-8500000}" --group-keywords 34 --work "${THESIS8_DIR:-}" \
	--strategies original,random,random:slices=250000,slicer,weighted-move --order hash,id \
	--runs "${THESIS8_RUNS:-5}" --pause "${THESIS8_PAUSE:-2s}" --before "${THESIS8_BEFORE:-10}" --passes "${THESIS8_PASSES:-1,3,5,100}" \
	--html "$out/thesis8.html" --json "$out/thesis8.json"
