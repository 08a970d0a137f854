#!/bin/bash
# RocksDB 11, linked statically, in place of Debian's 7.8 (docs/decisions/001-one-go-module-debian-rocksdb.md). Usage:
#   rocksdb.sh library           fetches its source from crates.io and compiles it; goes on where it was stopped
#   eval "$(rocksdb.sh env)"     has go build and go test use it; not in bench/, whose C++ is written for 7.8
#   rocksdb.sh linked            its package URL and the directory of its licences
#   rocksdb.sh test              the tests of what stands on RocksDB, with it
#   rocksdb.sh stores            programs with 7.8 and with 11 take turns with the same stores
#   rocksdb.sh measure           compares its costs with those of 7.8 (deploy/against.sh; nothing else should run)
# ROCKSDB_DIR (bin/rocksdb-11) is where it is kept, ROCKSDB_URL where the source is fetched from, ROCKSDB_JOBS (2) how
# many compilers run at once; each takes up to 2 GB of memory. Needs the packages of `ROCKSDB=11 setup.sh packages`.
set -eu -o pipefail
cd "$(dirname "$0")/.."
# The crate is the one whose rocksdb/c.h is, byte by byte, that of the binding.
crate=rust-librocksdb-sys-0.46.0+11.1.1
sum=8897839fc0d7842aff6eb04e1c2fe8faa160c9af7e9ec3af1522225df2ccc308
url=${ROCKSDB_URL:-https://static.crates.io/crates/rust-librocksdb-sys/$crate.crate}
binding=v1.11.1
binding_sums="github.com/linxGnu/grocksdb $binding h1:/gjcsviJimrQCDDlQCVuvzmeVAvgapQKaFQkQSe48bQ=
github.com/linxGnu/grocksdb $binding/go.mod h1:WaN+XviOp90uf+bYQ0s4y6DxXedPPMb4QwIsqMd3LdU="
dir=$(mkdir -p "${ROCKSDB_DIR:-bin/rocksdb-11}" && cd "${ROCKSDB_DIR:-bin/rocksdb-11}" && pwd)
say() { printf 'rocksdb.sh: %s\n' "$*" >&2; }

fetch() {
	local file=$dir/$crate.crate
	if [ ! -e "$file" ]; then
		say "fetching $url"
		curl -fsSL --retry 3 -o "$file.part" "$url"
		echo "$sum  $file.part" | sha256sum -c --quiet || { say "this is not the source that is pinned here: $file.part"; exit 1; }
		mv "$file.part" "$file"
	fi
	[ ! -e "$dir/source" ] || return 0
	rm -rf "$dir/unpacked"
	mkdir "$dir/unpacked"
	tar -xzf "$file" -C "$dir/unpacked" --strip-components=1
	mv "$dir/unpacked" "$dir/source"
}

# library compiles it as Debian does: for every processor of the architecture, with LZ4 alone, the only compression of
# stores, and hardened; but without the assertions that Debian's has on. A compiler takes 16 files at once, which have
# most headers in common. The date and the paths are not this machine's, so that packages have the same bytes anywhere.
library() {
	[ ! -e "$dir/lib/librocksdb.a" ] || return 0
	fetch
	local from=$dir/source/rocksdb
	say "compiling RocksDB 11.1.1 in $dir/build: seven minutes of one processor"
	cmake -S "$from" -B "$dir/build" -DCMAKE_BUILD_TYPE=Release \
		-DCMAKE_CXX_FLAGS_RELEASE="-O2 -DNDEBUG -D_FORTIFY_SOURCE=2 -fstack-protector-strong" \
		-DCMAKE_CXX_FLAGS="-ffile-prefix-map='$from'=." -DPORTABLE=1 -DBUILD_DATE="2026-04-10 15:00:01" \
		-DCMAKE_UNITY_BUILD=ON -DCMAKE_UNITY_BUILD_BATCH_SIZE=16 -DFAIL_ON_WARNINGS=OFF -DROCKSDB_BUILD_SHARED=OFF \
		-DWITH_LZ4=ON -DWITH_GFLAGS=OFF -DWITH_LIBURING=OFF -DWITH_TESTS=OFF -DWITH_TOOLS=OFF -DWITH_CORE_TOOLS=OFF \
		-DWITH_BENCHMARK_TOOLS=OFF -DWITH_TRACE_TOOLS=OFF >"$dir/cmake.log" || { tail -n 20 "$dir/cmake.log" >&2; exit 1; }
	cmake --build "$dir/build" --target rocksdb -j "${ROCKSDB_JOBS:-2}" >&2
	# What programs that have it must pass on; of its two licences it is taken under Apache's.
	mkdir -p "$dir/licences" "$dir/lib"
	cp "$from/LICENSE.Apache" "$from/LICENSE.leveldb" "$dir/licences/"
	sed -n '/^ \* xxHash - /,/^ \*\//s,^ [*/]*,,p' "$from/util/xxhash.h" >"$dir/licences/LICENSE.xxhash"
	cp "$dir/build/librocksdb.a" "$dir/lib/librocksdb.a.part"
	mv "$dir/lib/librocksdb.a.part" "$dir/lib/librocksdb.a"
	say "$dir/lib/librocksdb.a is there"
}

# settings prints what go needs. The go.mod stays as it is: a copy of it names the newer binding.
settings() {
	library
	local mod=$dir/module
	mkdir -p "$mod"
	sed -E "s,^(\s*github.com/linxGnu/grocksdb) .*,\1 $binding," go.mod >"$mod/go.mod"
	{ grep -v '^github.com/linxGnu/grocksdb ' go.sum; echo "$binding_sums"; } >"$mod/go.sum"
	cat <<-END
		export GOFLAGS='${GOFLAGS:-} -modfile=$mod/go.mod -tags=grocksdb_no_link'
		export CGO_CFLAGS="-O2 -g '-I$dir/source/rocksdb/include'"
		export CGO_LDFLAGS="'-L$dir/lib' -lrocksdb -llz4 -lstdc++ -lm -ldl -pthread"
	END
}

# with has what follows use it.
with() {
	local said
	said=$(settings) # eval would go on without it
	eval "$said"
}

# programs builds the test program of barrels/rocks with both into a directory: a with 7.8, b with 11.
programs() {
	go test -c -vet=off -o "$1/a" ./barrels/rocks
	(
		with
		go test -c -vet=off -o "$1/b" ./barrels/rocks
	)
}

# stores has programs with 7.8 (a) and 11 (b) take turns, from either side.
stores() {
	local turns who
	work=$(mktemp -d)
	trap 'rm -rf "$work"' EXIT
	programs "$work"
	for turns in "a b a b" "b a b a"; do
		for who in $turns; do
			(cd "$work" && "./$who" -test.run '^TestTurns$' -test.v -stores "$work/${turns// /}") | sed "s/^/$who: /"
		done
	done
	say "stores of 7.8 and 11 were opened, read whole and changed by the other"
}

case ${1:-} in
library) library ;;
env) settings ;;
test)
	with
	go test -count=1 -vet=off ./barrels/... ./internal/node/copying/... ./internal/node/slave/... ./internal/node/processtest/...
	go test -count=1 -vet=off -asan -run '^TestIterators$' ./barrels/rocks
	;;
linked) echo "pkg:github/facebook/rocksdb@v11.1.1=$dir/licences" ;; # as internal/modules wants it
stores) stores ;;
measure) AGAINST_ROCKSDB=11 AGAINST_PARTS=${AGAINST_PARTS:-store search import} deploy/against.sh HEAD ;;
*) sed -n '2,/^set/{/^#/p}' "$0" | cut -c3- >&2; exit 2 ;;
esac
