#!/bin/bash
# Installs the Debian packages that are missing, and checks that Go and RocksDB are the ones that the build needs; says
# first which RocksDB that is, and why (rocksdb.sh). Usage: setup.sh build|test|packages|languages
# ROCKSDB=11 chooses RocksDB 11, which is compiled here, and installs what that needs.
set -eu
cd "$(dirname "$0")/.."
case ${1:-build} in
build) wanted="gcc g++ librocksdb-dev" ;;
packages) wanted="gcc g++ librocksdb-dev dpkg-dev" ;;
test) wanted="gcc g++ librocksdb-dev protobuf-compiler flatbuffers-compiler python3-flatbuffers capnproto hunspell-cs mythes-cs mythes-en-us postgresql etcd-server iproute2 prometheus chromium" ;;
languages)
	wanted="gcc g++ librocksdb-dev"
	for l in cs da de en-us no sv; do wanted="$wanted mythes-$l"; done
	for l in ar cs da de-de en-us es fr hu it nl no pt-pt ro ru sv tr; do wanted="$wanted hunspell-$l"; done ;;
*) echo "usage: $0 build|test|packages|languages" >&2; exit 2 ;;
esac
fail() { printf '%s\n' "$@" >&2; exit 1; }
chosen=$(deploy/rocksdb.sh choice)
echo "RocksDB $chosen"
[ "${chosen%% *}" != 11 ] || wanted="${wanted/librocksdb-dev/} cmake make curl liblz4-dev"
# Ubuntu has it as a snap only; without it the tests in a browser are skipped.
! grep -qs '^ID=ubuntu' /etc/os-release || wanted=${wanted/chromium/}

# Go: a version from 1.21 on can fetch a newer one by itself, unless it is told not to.
need=$(awk '$1 == "go" { print $2 }' go.mod)
arch=$(uname -m | sed 's/x86_64/amd64/; s/aarch64/arm64/')
get="mkdir -p ~/.local && curl -fsSL https://go.dev/dl/go$need.linux-$arch.tar.gz | tar -xz -C ~/.local && export PATH=~/.local/go/bin:\$PATH"
command -v go >/dev/null || fail "Go $need or newer is needed and there is no go in the PATH; this gets it:" "  $get"
have=$(go env GOVERSION 2>/dev/null | sed 's/^go//' || true)
if [ "$(printf '%s\n%s\n' "$need" "${have:-0}" | sort -V | head -n 1)" != "$need" ]; then
	[ "$(cd / && go env GOTOOLCHAIN 2>/dev/null)" != local ] || get="go env -w GOTOOLCHAIN=auto"
	fail "Go $need or newer is needed, and this is $(GOTOOLCHAIN=local go version 2>&1 | head -n 1); this gets it:" "  $get"
fi

installed() { dpkg-query -W -f='${Status}' "$1" 2>/dev/null | grep -q 'ok installed'; }
missing=""
if command -v dpkg-query >/dev/null; then
	for p in $wanted; do
		installed "$p" || missing="$missing $p"
	done
else
	for tool in gcc g++ $([ "${chosen%% *}" != 11 ] || echo cmake make curl); do
		command -v $tool >/dev/null || fail "this is no Debian: install by hand what is called there $wanted, or use Debian"
	done
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
		fail "could not install$missing (Debian 12 and 13 have them all)"
	fi
	rm -f "$log"
fi

# What was installed may be another version than the one that the release had.
now=$(deploy/rocksdb.sh choice)
[ "$now" = "$chosen" ] || fail "RocksDB was to be $chosen; it is $now: try again"
deploy/rocksdb.sh env >/dev/null
