#!/bin/bash
# Holds a running cluster against openapi.yaml: lints the document (Redocly, openapi-spec-validator),
# sends what Schemathesis draws from it to the three ports, and asks the cluster through a client
# generated from it. Ends with a table, and with 1 if there is a finding.
# Needs Go, Python 3.10 with venv and Node 20; what it installs is in bin/conformance, at fixed versions.
# CONFORMANCE_SEEDS (1 2) are the seeds, CONFORMANCE_EXAMPLES (50) the cases drawn for an operation and
# seed beside the covering ones, CONFORMANCE_PORT (18920) the first of three ports.
set -eu -o pipefail
cd "$(dirname "$0")/.."
settings=$(deploy/rocksdb.sh env) # eval would go on without them
eval "$settings"
seeds=${CONFORMANCE_SEEDS:-1 2} examples=${CONFORMANCE_EXAMPLES:-50} port=${CONFORMANCE_PORT:-18920}
tools=$PWD/bin/conformance own=$PWD/deploy/conformance document=$PWD/internal/node/httpapi/openapi.yaml
redocly=@redocly/cli@2.77.0
query=http://127.0.0.1:$port admin=http://127.0.0.1:$((port + 1)) events=http://127.0.0.1:$((port + 2))

if ! cmp -s "$own/requirements.txt" "$tools/requirements.txt"; then
	echo "installing Schemathesis and the other tools into bin/conformance"
	rm -rf "$tools"
	python3 -m venv "$tools/python"
	"$tools/python/bin/pip" -q --disable-pip-version-check install -r "$own/requirements.txt"
	npm install --silent --no-audit --no-fund --prefix "$tools/node" "$redocly"
	cp "$own/requirements.txt" "$tools/"
fi
go build -o bin/ ./cmd/adshard

dir=$(mktemp -d) up="" bad=0 rows=""
stop() { [ -z "$up" ] || { kill -TERM "$up" && wait "$up" || true; }; up=""; }
trap 'stop; rm -rf "$dir"' EXIT
trap 'exit 1' INT TERM
row() { rows+=$(printf '%-28s %10s %8s %8s' "$@")$'\n'; } # WHAT OPERATIONS CASES FINDINGS
judge() { # WHAT OPERATIONS COMMAND: a step that passes or fails as a whole
	local what=$1 operations=$2 findings=0
	shift 2
	"$@" >"$dir/out" 2>&1 || { findings=1 bad=1; cat "$dir/out" >&2; }
	row "$what" "$operations" - "$findings"
}
token=$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')
(umask 077; echo "operator conformance $token" >"$dir/tokens")
start() { # a cluster with the data of ads.jsonl
	stop
	rm -rf "$dir/data" "$dir"/ads.db*
	bin/adshard import --db "sqlite:$dir/ads.db" "$own/ads.jsonl" >/dev/null 2>&1
	: >"$dir/log"
	bin/adshard up --db "sqlite:$dir/ads.db" --data "$dir/data" --slaves 3 --tokens "$dir/tokens" --slow-queries-after 1ns \
		--http "${query#*//}" --admin "${admin#*//}" --collector "${events#*//}" >"$dir/log" 2>&1 &
	up=$!
	until grep -q '^ready ' "$dir/log"; do kill -0 $up 2>/dev/null || { cat "$dir/log" >&2; exit 1; }; sleep 0.1; done
}
# schemathesis WHAT SEED URL PHASES ARG… asks one port.
schemathesis() {
	local what="$1, seed $2" seed=$2 url=$3 phases=$4
	shift 4
	rm -f "$dir/report.json"
	(cd "$dir" && nice "$tools/python/bin/schemathesis" --no-color --config-file "$dir/schemathesis.toml" run "$document" --url "$url" \
		--seed "$seed" --max-examples "$examples" --phases "$phases" --report json --report-json-path "$dir/report.json" "$@") >"$dir/out" 2>&1 || { bad=1; cat "$dir/out" >&2; }
	row "$what" $("$tools/python/bin/python" -c 'import json, sys
r = json.load(open(sys.argv[1])); c = r["test_cases"]
print(r["operations"]["tested"], c["generated"], c["unique_failures"] + sum(e["count"] for e in r["errors"]))' "$dir/report.json")
	if grep -q ' panicked' "$dir/log"; then
		grep ' panicked' "$dir/log" >&2
		bad=1
	fi
}
sed "s|^suppress|hooks = \"$own/hooks.py\"\n&|" "$own/schemathesis.toml" >"$dir/schemathesis.toml"

operations=$(grep -c '^      operationId:' "$document")
judge "Redocly" "$operations" "$tools/node/node_modules/.bin/redocly" lint --config "$own/redocly.yaml" "$document"
judge "openapi-spec-validator" "$operations" "$tools/python/bin/openapi-spec-validator" "$document"
"$tools/python/bin/openapi-python-client" generate --path "$document" --meta none --output-path "$dir/client/adshard_client" >"$dir/out" 2>&1 ||
	{ cat "$dir/out" >&2; exit 1; }
start
judge "generated Python client" 8 env PYTHONPATH="$dir/client" "$tools/python/bin/python" "$own/client.py" "$query" "$admin" "$token"
for seed in $seeds; do
	start
	schemathesis "query port" "$seed" "$query" examples,coverage,fuzzing --include-tag public
	schemathesis "port for events" "$seed" "$events" examples,coverage,fuzzing --include-tag events
	schemathesis "admin port" "$seed" "$admin" examples,coverage,fuzzing,stateful --include-tag admin --include-tag data -H "Authorization: Bearer $token"
done
stop
printf '\n%-28s %10s %8s %8s\n%s' "" operations cases findings "$rows"
exit $bad
