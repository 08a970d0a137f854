#!/bin/sh
# Regenerates pb/ and fb/ from proto/ and fbs/. Needs protoc 3.21 and flatc
# 2.0 (Debian 12: protobuf-compiler, flatbuffers-compiler); the Go plug-ins are
# pinned in tools/go.mod.
set -eu
cd "$(dirname "$0")/.."
bin=$(mktemp -d)
trap 'rm -rf "$bin"' EXIT
for tool in google.golang.org/protobuf/cmd/protoc-gen-go google.golang.org/grpc/cmd/protoc-gen-go-grpc; do
	go build -modfile=tools/go.mod -o "$bin/" "$tool"
done
out=${1:-.}
mkdir -p "$out/schema/pb" "$out/schema/fb"
PATH="$bin:$PATH" protoc -I schema/proto \
	--go_out="$out" --go_opt=module=adshard \
	--go-grpc_out="$out" --go-grpc_opt=module=adshard \
	schema/proto/adshard/v1/*.proto
flatc --go --gen-onefile --go-namespace fb -o "$out/schema/fb" schema/fbs/block.fbs
gofmt -w "$out/schema/fb"
