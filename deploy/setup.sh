#!/bin/bash
# Installs the Debian packages that are missing. Usage: setup.sh build|test
set -eu
case ${1:-build} in
build) wanted="gcc g++ librocksdb-dev" ;;
test) wanted="gcc g++ librocksdb-dev protobuf-compiler flatbuffers-compiler hunspell-cs mythes-cs mythes-en-us" ;;
*) echo "usage: $0 build|test" >&2; exit 2 ;;
esac
command -v go >/dev/null || { echo "Go 1.26 is needed: https://go.dev/doc/install" >&2; exit 1; }
missing=""
for p in $wanted; do
	dpkg-query -W -f='${Status}' "$p" 2>/dev/null | grep -q 'ok installed' || missing="$missing $p"
done
[ -z "$missing" ] && exit 0
root=""
if [ "$(id -u)" != 0 ]; then
	command -v sudo >/dev/null || { echo "install these as root, then try again: apt-get install$missing" >&2; exit 1; }
	root=sudo
fi
echo "installing$missing"
log=$(mktemp)
if ! { $root apt-get -qq update && DEBIAN_FRONTEND=noninteractive $root apt-get -qq install -y --no-install-recommends $missing; } >"$log" 2>&1; then
	tail -n 20 "$log" >&2
	echo "could not install$missing (Debian 12 has them all)" >&2
	exit 1
fi
rm -f "$log"
