#!/bin/sh
# Regenerates pb/ and fb/ from proto/ and fbs/, with the tools of
# schema/generate.sh; below another directory, if one is given.
set -eu
cd "$(dirname "$0")/../../.."
here=bench/layouts/rdb
out=${1:-.}
bin=$(mktemp -d)
trap 'rm -rf "$bin"' EXIT
go build -modfile=tools/go.mod -o "$bin/" google.golang.org/protobuf/cmd/protoc-gen-go
mkdir -p "$out/$here/pb" "$out/$here/fb"
PATH="$bin:$PATH" protoc -I $here/proto --go_out="$out" --go_opt=module=adshard $here/proto/matching.proto
flatc --go --gen-onefile --go-namespace fb -o "$out/$here/fb" $here/fbs/matching.fbs
gofmt -w "$out/$here/fb"
