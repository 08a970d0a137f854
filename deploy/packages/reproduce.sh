#!/bin/bash
# Shows that packages are reproducible: builds those of HEAD twice, in directories of different names and
# lengths, with caches of their own, and compares all bytes. Usage: reproduce.sh
set -eu -o pipefail
cd "$(dirname "$0")/../.."
dir=$(mktemp -d)
trap 'chmod -R u+w "$dir"; rm -rf "$dir"' EXIT
COMMIT=$(git rev-parse HEAD)
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
VERSION=${VERSION:-0.0.0}
export COMMIT SOURCE_DATE_EPOCH VERSION
for copy in a "another directory of a longer name"; do
	mkdir -p "$dir/$copy/source"
	git archive HEAD | tar -xC "$dir/$copy/source"
	(cd "$dir/$copy/source" && umask 0$((RANDOM % 2 * 7)) && GOCACHE="$dir/$copy/cache" TZ=Asia/Tokyo deploy/packages/build.sh "$dir/$copy/out")
	rm -rf "$dir/$copy/cache"
done
diff -r "$dir/a/out" "$dir/another directory of a longer name/out"
(cd "$dir/a/out" && sha256sum *)
echo "both builds of $COMMIT are equal, byte by byte"
