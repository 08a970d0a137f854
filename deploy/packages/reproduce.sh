#!/bin/bash
# Shows that packages are reproducible: builds those of HEAD twice, in directories of different names and
# lengths, with time zones and umasks of their own, the second without Go's cache or a RocksDB that was compiled before,
# and compares all bytes. The packages of the first are put into DIR. Usage: reproduce.sh DIR
set -eu -o pipefail
cd "$(dirname "$0")/../.."
out=$(mkdir -p "$1" && cd "$1" && pwd)
dir=$(mktemp -d)
trap 'chmod -R u+w "$dir"; rm -rf "$dir"' EXIT
COMMIT=$(git rev-parse HEAD)
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
VERSION=$(deploy/packages/build.sh --version)
export COMMIT SOURCE_DATE_EPOCH VERSION
# copy NAME TIME-ZONE UMASK CACHE ROCKSDB_DIR builds from a copy of the source whose files have the modes that the umask leaves.
copy() (
	umask "$3"
	mkdir -p "$dir/$1/source"
	git archive "$COMMIT" | tar --no-same-permissions -xC "$dir/$1/source"
	cd "$dir/$1/source"
	GOCACHE=$4 ROCKSDB_DIR=$5 TZ=$2 deploy/packages/build.sh "$dir/$1/out"
)
chosen=$(deploy/rocksdb.sh choice)
copy a UTC 022 "$(go env GOCACHE)" "${ROCKSDB_DIR:-$PWD/bin/rocksdb-${chosen%% *}}"
copy "another directory of a longer name" Asia/Tokyo 077 "$dir/cache" "$dir/rocksdb"
diff -r "$dir/a/out" "$dir/another directory of a longer name/out"
(cd "$dir/a/out" && sha256sum *)
cp "$dir/a/out/"* "$out/"
echo "both builds of $COMMIT are equal, byte by byte"
