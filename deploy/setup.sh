#!/bin/bash
# Installs the Debian packages that are missing, and checks that Go and RocksDB
# are the ones that the build needs. Usage: setup.sh build|test|packages
# ROCKSDB=11 installs what compiling RocksDB 11 for packages needs (rocksdb.sh).
set -eu
cd "$(dirname "$0")/.."
case ${1:-build} in
build) wanted="gcc g++ librocksdb-dev" ;;
packages) wanted="gcc g++ librocksdb-dev dpkg-dev" ;;
test) wanted="gcc g++ librocksdb-dev protobuf-compiler flatbuffers-compiler python3-flatbuffers capnproto hunspell-cs mythes-cs mythes-en-us postgresql etcd-server iproute2 prometheus chromium" ;;
*) echo "usage: $0 build|test|packages" >&2; exit 2 ;;
esac
[ -z "${ROCKSDB:-}" ] || wanted="${wanted/librocksdb-dev/} cmake make curl liblz4-dev"
fail() { printf '%s\n' "$@" >&2; exit 1; }

# Go: a version before 1.21 cannot fetch a newer one by itself.
need=$(awk '$1 == "go" { print $2 }' go.mod)
command -v go >/dev/null || fail "Go $need or newer is needed and there is no go in the PATH: https://go.dev/doc/install"
have=$(go env GOVERSION 2>/dev/null | sed 's/^go//' || true)
[ "$(printf '%s\n%s\n' "$need" "${have:-0}" | sort -V | head -n 1)" = "$need" ] ||
	fail "Go $need or newer is needed, and this is $(go version 2>&1 | head -n 1): https://go.dev/doc/install"

installed() { dpkg-query -W -f='${Status}' "$1" 2>/dev/null | grep -q 'ok installed'; }
missing=""
if command -v dpkg-query >/dev/null; then
	for p in $wanted; do
		installed "$p" || missing="$missing $p"
	done
elif [ ! -e /usr/include/rocksdb/c.h ]; then
	fail "this is no Debian: install gcc, g++ and RocksDB 7.8 with its headers by hand, or use Debian 12"
fi
if [ -n "$missing" ]; then
	root=""
	if [ "$(id -u)" != 0 ]; then
		command -v sudo >/dev/null || fail "install these as root, then try again: apt-get install$missing"
		root=sudo
	fi
	echo "installing$missing"
	log=$(mktemp)
	if ! { $root apt-get -qq update && DEBIAN_FRONTEND=noninteractive $root apt-get -qq install -y --no-install-recommends $missing; } >"$log" 2>&1; then
		tail -n 20 "$log" >&2
		fail "could not install$missing (Debian 12 has them all)"
	fi
	rm -f "$log"
fi

# The Go binding is pinned to this RocksDB and does not build with another.
version=$(awk '/define ROCKSDB_(MAJOR|MINOR) / { v = v s $3; s = "." } END { print v }' /usr/include/rocksdb/version.h 2>/dev/null || true)
[ -z "$version" ] || [ "$version" = 7.8 ] ||
	fail "RocksDB 7.8 is needed, as in Debian 12; this system has $version"
