#!/bin/sh
# Regenerates pb/ and fb/ from proto/ and fbs/, with the tools of
# schema/generate.sh.
set -eu
cd "$(dirname "$0")/../../.."
here=bench/layouts/rdb
bin=$(mktemp -d)
trap 'rm -rf "$bin"' EXIT
go build -modfile=tools/go.mod -o "$bin/" google.golang.org/protobuf/cmd/protoc-gen-go
PATH="$bin:$PATH" protoc -I $here/proto --go_out=. --go_opt=module=adshard $here/proto/matching.proto
flatc --go --gen-onefile --go-namespace fb -o $here/fb $here/fbs/matching.fbs
gofmt -w $here/fb
