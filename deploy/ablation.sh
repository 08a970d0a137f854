#!/bin/bash
# Measures what each idea of the search brings and writes docs/experiments/ablation.md.
# Build first (make build); nothing else should run on the machine meanwhile.
# ABLATION_KEYWORDS, ABLATION_SECONDS and ABLATION_ROUNDS make it smaller or larger;
# ABLATION_DIR keeps the keywords; further arguments go to adbench ablation.
set -eu -o pipefail
cd "$(dirname "$0")/.."
[ -x bin/adbench ] || { echo "bin/ has no adbench; run make build first" >&2; exit 1; }
work=()
[ -z "${ABLATION_DIR:-}" ] || work=(--work "$ABLATION_DIR")
exec bin/adbench ablation --source . --keywords "${ABLATION_KEYWORDS:-1000000}" --seconds "${ABLATION_SECONDS:-3}" \
	--rounds "${ABLATION_ROUNDS:-5}" --out docs/experiments/ablation.md "${work[@]}" "$@"
