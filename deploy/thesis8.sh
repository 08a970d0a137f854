#!/bin/bash
# Chapter 8 of the thesis on real processes: writes docs/experiments/thesis8.html and
# thesis8.json. Build first (make build); nothing else should run meanwhile.
# THESIS8_KEYWORDS is the size (the thesis: 8,500,000 in 250,000 groups, the default;
# some ten minutes on two cores); THESIS8_DIR keeps the database for the next time.
set -eu -o pipefail
cd "$(dirname "$0")/.."
bin=$PWD/bin
out=$PWD/docs/experiments
[ -x "$bin/adbench" ] && [ -x "$bin/adshard" ] || { echo "bin/ has no programs; run make build first" >&2; exit 1; }
"$bin/adbench" passes --keywords "${THESIS8_KEYWORDS:-8500000}" --group-keywords 34 --work "${THESIS8_DIR:-}" \
	--html "$out/thesis8.html" --json "$out/thesis8.json"
