#!/bin/bash
# From which cost of a candidate on is balancing worth it? On real processes: writes
# docs/experiments/premise.html and premise.json. Build first (make build); nothing else should run
# meanwhile: half an hour on two cores. Slaves are limited by control groups (docs/experiments/premise.md), which
# need root here. PREMISE_EXACT=1 scores every keyword that matches, and writes premise-exact.html and .json.
# PREMISE_ROUNDS, PREMISE_TREES, PREMISE_STRATEGIES and PREMISE_SLAVES change what is measured;
# PREMISE_DIR keeps the database for the next time, PREMISE_OUT is where pages go.
set -eu -o pipefail
cd "$(dirname "$0")/.."
bin=$PWD/bin
out=${PREMISE_OUT:-$PWD/docs/experiments}
[ -x "$bin/adbench" ] && [ -x "$bin/adshard" ] || { echo "bin/ has no programs; run make build first" >&2; exit 1; }
name=premise
exact=()
[ -z "${PREMISE_EXACT:-}" ] || { name=premise-exact; exact=(--exact); }
"$bin/adbench" premise ${exact[@]+"${exact[@]}"} --rounds "${PREMISE_ROUNDS:-3}" --trees "${PREMISE_TREES:--1,60,550,2900}" \
	--strategies "${PREMISE_STRATEGIES:-fixed,random,original,weighted-move,slicer,topics}" --slaves "${PREMISE_SLAVES:-8}" \
	--work "${PREMISE_DIR:-}" --html "$out/$name.html" --json "$out/$name.json"
