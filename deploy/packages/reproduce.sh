#!/bin/bash
# Shows that packages are reproducible: builds those of HEAD twice, in directories of different names and
# lengths, with time zones, umasks and caches of their own, and compares all bytes. Usage: reproduce.sh
set -eu -o pipefail
cd "$(dirname "$0")/../.."
dir=$(mktemp -d)
trap 'chmod -R u+w "$dir"; rm -rf "$dir"' EXIT
COMMIT=$(git rev-parse HEAD)
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
VERSION=${VERSION:-0.0.0}
export COMMIT SOURCE_DATE_EPOCH VERSION
# copy NAME TIME-ZONE UMASK builds from a copy of the source whose files have the modes that the umask leaves.
copy() (
	umask "$3"
	mkdir -p "$dir/$1/source"
	git archive "$COMMIT" | tar --no-same-permissions -xC "$dir/$1/source"
	cd "$dir/$1/source"
	GOCACHE=$dir/$1/cache TZ=$2 deploy/packages/build.sh "$dir/$1/out"
	rm -rf "$dir/$1/cache"
)
copy a UTC 022
copy "another directory of a longer name" Asia/Tokyo 077
diff -r "$dir/a/out" "$dir/another directory of a longer name/out"
(cd "$dir/a/out" && sha256sum *)
echo "both builds of $COMMIT are equal, byte by byte"
