#!/bin/bash
# Which RocksDB the programs are linked with, and the version of its binding for Go (docs/decisions/001-one-go-module-debian-rocksdb.md):
# that of this system, installed or in its packages, if a binding fits it; else RocksDB 11, compiled here and linked
# statically. go.mod has the binding for 7.8; for the others go reads copies of go.mod and go.sum that name theirs. Usage:
#   rocksdb.sh choice            the version, and why
#   eval "$(rocksdb.sh env)"     has go use it, in all modules; compiles 11 if it has to; prints nothing for 7.8
#   rocksdb.sh other DIR         the same for DIR, a checkout of another commit; some can be linked only with 7.8
#   rocksdb.sh make              writes the same for make, without compiling, and prints the name of the file
#   rocksdb.sh replaced          what GOFLAGS has go replace; an -overlay on the command line, which hides it, begins with it
#   rocksdb.sh library           fetches the source of 11 from crates.io and compiles it; goes on where it was stopped
#   rocksdb.sh linked            its package URL and the directory of its licences
#   rocksdb.sh test              the tests of what stands on RocksDB, with 11
#   rocksdb.sh stores            programs with the system's and with 11 take turns with the same stores
#   rocksdb.sh measure           compares the costs of 11 with those of 7.8 (deploy/against.sh; nothing else should run)
# ROCKSDB=11 chooses 11 on any system; SYSROOT is where a system is that is not this one. ROCKSDB_DIR (bin/rocksdb-VERSION,
# or in ~/.cache/adshard if this directory has white space in its name) is where files are kept, ROCKSDB_URL where the
# source is fetched from, ROCKSDB_JOBS (2) how many compilers run at once; each takes up to 2 GB of memory. 11 needs the
# packages of `ROCKSDB=11 setup.sh packages`.
set -eu -o pipefail
cd "$(dirname "$0")/.."
# The crate is the one whose rocksdb/c.h is, byte by byte, that of the binding.
crate=rust-librocksdb-sys-0.46.0+11.1.1
sum=8897839fc0d7842aff6eb04e1c2fe8faa160c9af7e9ec3af1522225df2ccc308
url=${ROCKSDB_URL:-https://static.crates.io/crates/rust-librocksdb-sys/$crate.crate}
grocksdb=github.com/linxGnu/grocksdb
say() { printf 'rocksdb.sh: %s\n' "$*" >&2; }

# binding prints the version of grocksdb for a RocksDB, and the sums of it and of its go.mod.
binding() {
	case $1 in
	7.8) awk -v of=$grocksdb '$1 == of { print $2 }' go.mod ;; # go.sum has its sums
	8.9) echo v1.8.12 h1:1/pCztQUOa3BX/1gR3jSZDoaKFpeHFvQ1XrqZpSvZVo= h1:xZCIb5Muw+nhbDK4Y5UJuOrin5MceOuiXkVUR7vp4WY= ;;
	9.10) echo v1.9.8 h1:vOIKv9/+HKiqJAElJIEYv3ZLcihRxyP7Suu/Mu8Dxjs= h1:C3CNe9UYc9hlEM2pC82AqiGS3LRW537u9LFV4wIZuHk= ;;
	11) echo v1.11.1 h1:/gjcsviJimrQCDDlQCVuvzmeVAvgapQKaFQkQSe48bQ= h1:WaN+XviOp90uf+bYQ0s4y6DxXedPPMb4QwIsqMd3LdU= ;;
	*) return 1 ;;
	esac
}

# choose sets version, why, and dir. Before its packages are installed, a system is known by the name of its release.
choose() {
	local header=${SYSROOT:-}/usr/include/rocksdb/version.h system codename
	system=$(. "${SYSROOT:-}/etc/os-release" 2>/dev/null && echo "${PRETTY_NAME:-}" || true)
	codename=$(. "${SYSROOT:-}/etc/os-release" 2>/dev/null && echo "${UBUNTU_CODENAME:-${VERSION_CODENAME:-}}" || true)
	case $codename in
	bookworm) version=7.8 ;;
	noble) version=8.9 ;;
	trixie) version=9.10 ;;
	*) version="" ;;
	esac
	[ ! -e "$header" ] || version=$(awk '/define ROCKSDB_(MAJOR|MINOR) / { v = v s $3; s = "." } END { print v }' "$header")
	why="of ${system:=this system}"
	case ${ROCKSDB:-} in
	"")
		if ! binding "$version" >/dev/null; then
			why="compiled here, once: no binding is known here for ${version:+RocksDB $version of }$system"
			version=11
		fi
		;;
	11) version=11 why="compiled here, once, as ROCKSDB=11 says" ;;
	*) say "there is RocksDB 11 to be linked statically (ROCKSDB=11), or the system's: not $ROCKSDB"; exit 2 ;;
	esac
	why+=", with grocksdb $(binding $version | cut -d' ' -f1)"
	dir=bin/rocksdb-$version
	# Make and GOFLAGS take no path with white space.
	[[ $PWD != *[[:space:]]* ]] || dir=${XDG_CACHE_HOME:-$HOME/.cache}/adshard/rocksdb-$version-$(cksum <<<"$PWD" | cut -d' ' -f1)
	dir=$(realpath -m -- "${ROCKSDB_DIR:-$dir}")
}

fetch() {
	local file=$dir/$crate.crate
	mkdir -p "$dir"
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

# library compiles it as Debian does: for every processor of the architecture, with only LZ4, the compression of
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

# overlay writes what go reads in place of go.mod and go.sum of all modules that name the binding. A checkout
# can be reached by two names, of which one has a link in it.
overlay() {
	local at top module to tops list=() of
	mapfile -t tops < <(printf '%s\n' "$PWD" "$(pwd -P)" | sort -u)
	of=$(binding $version)
	read -r at of <<<"$of"
	mkdir -p "$dir/go"
	for module in "" bench/ bench/examples/strategy/; do
		to=$dir/go/copy-${module//\//-}
		sed -E "s,^(\s*$grocksdb) v\S+,\1 $at," "${module}go.mod" | keep "${to}go.mod"
		{
			grep -v "^$grocksdb " "${module}go.sum"
			printf "$grocksdb %s %s\n" "$at" "${of% *}" "$at/go.mod" "${of#* }"
		} | keep "${to}go.sum"
		for top in "${tops[@]}"; do
			list+=("\"$top/${module}go.mod\": \"${to}go.mod\"" "\"$top/${module}go.sum\": \"${to}go.sum\"")
		done
	done
	printf '%s\n' "${list[@]}" | sed '1s/^/{"Replace": {\n/; $!s/$/,/; $s/$/\n}}/' | keep "$dir/go/overlay.json"
}
# keep writes a file, unless it has these bytes already: others may be reading it.
keep() {
	cat >"$1.$$"
	if cmp -s "$1.$$" "$1"; then rm "$1.$$"; else mv "$1.$$" "$1"; fi
}

# settings sets what go needs: names, with a value for each in the variable of that name. The modules' own files stay as they are.
settings() {
	local tags
	choose
	names=()
	[ $version != 7.8 ] || return 0
	[[ $dir != *[[:space:]]* ]] || { say "make and GOFLAGS take no path with white space, and files are in $dir: set ROCKSDB_DIR"; exit 1; }
	overlay
	names=(GOFLAGS)
	GOFLAGS="${GOFLAGS:-$(cd / && go env GOFLAGS 2>/dev/null || true)} -overlay=$dir/go/overlay.json"
	[ $version = 11 ] || return 0
	names+=(CGO_CFLAGS CGO_CXXFLAGS CGO_LDFLAGS)
	tags=$(sed -nE 's/.*-tags=(\S+).*/\1,/p' <<<"$GOFLAGS") # go takes the last -tags only
	GOFLAGS+=" -tags=${tags}grocksdb_no_link"
	CGO_CFLAGS="-O2 -g '-I$dir/source/rocksdb/include'"
	CGO_CXXFLAGS=$CGO_CFLAGS
	CGO_LDFLAGS="'-L$dir/lib' -lrocksdb -llz4 -lstdc++ -lm -ldl -pthread"
}
environment() {
	local name
	settings
	[ $version != 11 ] || library
	for name in ${names[@]+"${names[@]}"}; do printf 'export %s=%q\n' "$name" "${!name}"; done
}
makefile() {
	local name
	settings
	[ ${#names[@]} != 0 ] || return 0
	for name in "${names[@]}"; do printf 'override export %s := %s\n' "$name" "${!name}"; done | sed 's/\$/$$/g; s/#/\\#/g' | keep "$dir/go/settings.mk"
	echo "$dir/go/settings.mk"
}
replaced() {
	local file
	file=$(sed -nE 's/.*-overlay=(\S+).*/\1/p' <<<"${GOFLAGS:-}")
	[ -z "$file" ] || sed -nE 's/^(".*"),?$/\1/p' "$file"
}

# with has what follows use a RocksDB: 11, or "" for the system's.
with() {
	local said
	GOFLAGS=$(sed -E 's/ *-overlay=\S+//; s/ *-tags=grocksdb_no_link//; s/,grocksdb_no_link//' <<<"${GOFLAGS:-}") # of make
	unset CGO_CFLAGS CGO_CXXFLAGS CGO_LDFLAGS
	said=$(ROCKSDB=$1 environment) # eval would go on without it
	eval "$said"
}

# programs builds the test program of barrels/rocks with both into a directory: a with the system's, b with 11.
programs() {
	(
		with ""
		go test -c -vet=off -o "$1/a" ./barrels/rocks
	)
	(
		with 11
		go test -c -vet=off -o "$1/b" ./barrels/rocks
	)
}

# stores has programs with the system's (a) and 11 (b) take turns, from either side.
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
	say "stores of the system's RocksDB and of 11 were opened, read whole and changed by the other"
}

case ${1:-} in
choice)
	choose
	echo "$version $why"
	;;
env) environment ;;
other)
	if grep -qs '^choice)' "$2/deploy/rocksdb.sh"; then exec "$2/deploy/rocksdb.sh" env; fi
	ROCKSDB="" choose
	[ $version = 7.8 ] || { say "the commit in $2 can be built only with RocksDB 7.8, as Debian 12 has it; here it is $version"; exit 1; }
	;;
make) makefile ;;
replaced) replaced ;;
library)
	ROCKSDB=11 choose
	library
	;;
test)
	with 11
	go test -count=1 -vet=off ./barrels/... ./internal/node/copying/... ./internal/node/slave/... ./internal/node/processtest/...
	go test -count=1 -vet=off -asan -run '^TestIterators$' ./barrels/rocks
	;;
linked) # as internal/modules wants it
	ROCKSDB=11 choose
	echo "pkg:github/facebook/rocksdb@v11.1.1=$dir/licences"
	;;
stores) stores ;;
measure) AGAINST_ROCKSDB=11 AGAINST_PARTS=${AGAINST_PARTS:-store search import} deploy/against.sh HEAD ;;
*) sed -n '2,/^set/{/^#/p}' "$0" | cut -c3- >&2; exit 2 ;;
esac
