#!/bin/sh
# Regenerates api/*.gen.go from openapi.yaml; another output root may be given.
# The generator is pinned in tools/go.mod.
set -eu
cd "$(dirname "$0")/../../.."
bin=$(mktemp -d)
trap 'rm -rf "$bin"' EXIT
go build -modfile=tools/go.mod -o "$bin/" github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen
out=$(mkdir -p "${1:-.}" && cd "${1:-.}" && pwd)/internal/node/httpapi/api
mkdir -p "$out"
cd internal/node/httpapi
"$bin/oapi-codegen" -config types.config.yaml -o "$out/types.gen.go" openapi.yaml
"$bin/oapi-codegen" -config server.config.yaml -o "$out/server.gen.go" openapi.yaml
