#!/bin/sh
# Regenerates pb/, fb/ and cp/ from proto/, fbs/ and capnp/, with the tools of
# schema/generate.sh and capnp 0.9 (Debian 12: capnproto); below another directory,
# if one is given. Cap'n Proto's Go plug-in is that of the library in bench/go.mod.
set -eu
cd "$(dirname "$0")/../../.."
here=bench/layouts/rdb
out=${1:-.}
bin=$(mktemp -d)
trap 'rm -rf "$bin"' EXIT
go build -modfile=tools/go.mod -o "$bin/" google.golang.org/protobuf/cmd/protoc-gen-go
go -C bench build -o "$bin/" capnproto.org/go/capnp/v3/capnpc-go
mkdir -p "$out/$here/pb" "$out/$here/fb" "$out/$here/cp"
PATH="$bin:$PATH" protoc -I $here/proto --go_out="$out" --go_opt=module=adshard $here/proto/matching.proto
flatc --go --gen-onefile --go-namespace fb -o "$out/$here/fb" $here/fbs/matching.fbs
gofmt -w "$out/$here/fb"
library=$(go -C bench list -m -f '{{.Dir}}' capnproto.org/go/capnp/v3)
capnp compile -I "$library/std" --src-prefix=$here/capnp -o- $here/capnp/matching.capnp |
	(cd "$out/$here/cp" && "$bin/capnpc-go" -promises=false -schemas=false -structstrings=false)
