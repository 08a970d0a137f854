#!/bin/bash
# Builds a release of HEAD into bin/release/VERSION: for each system the Debian packages with lists of what is in them (SBOM), built
# twice and compared, installed, and upgraded to from those of FROM; checksums; notes for the tag. It makes no tag and
# publishes nothing. While CHANGELOG.md says that VERSION is not released the packages' version is one before it.
# Usage: release.sh VERSION [FROM]: FROM is a commit, else the newest tag; without one, two versions of HEAD are tried.
# Without root and debootstrap it builds for this system only, and tries nothing. RELEASE_SYSTEMS are the systems, each
# NAME or NAME/11, with RocksDB 11 linked statically (bookworm trixie bookworm/11); RELEASE_TRIED what is tried where, as
# NAME:SYSTEM, the packages for SYSTEM in the release NAME (those of each in its own, and those with RocksDB 11 in all).
set -eu -o pipefail
cd "$(dirname "$0")/.."
version=${1:-} from=${2:-}
fail() { printf 'release.sh: %s\n' "$*" >&2; exit 1; }
say() { printf '\n== %s\n' "$*"; }
[[ $version =~ ^[0-9]+\.[0-9]+\.[0-9]+$ ]] || fail "usage: release.sh VERSION [FROM], such as 1.2.3"
unset VERSION MAKEFLAGS MFLAGS MAKEOVERRIDES # what make passes on
heading=$(grep -m 1 '^## ' CHANGELOG.md)
case $heading in
"## $version (not released)") ;;
"## $version ("20[0-9][0-9]-[0-9][0-9]-[0-9][0-9]")") export VERSION=$version ;;
*) fail "CHANGELOG.md begins with '$heading', where '## $version (YEAR-MONTH-DAY)' is expected" ;;
esac
[ -z "$(git status --porcelain)" ] || fail "commit your changes first: packages are of a commit"
tagged=$(git rev-parse -q --verify "v$version^{commit}" || true)
[ "${tagged:-$(git rev-parse HEAD)}" = "$(git rev-parse HEAD)" ] || fail "v$version is the tag of another commit, $tagged: versions are used once"
VERSION=$(deploy/packages/build.sh --version)
[ -n "$from" ] || from=$(git describe --tags --abbrev=0 --match 'v*' HEAD^ 2>/dev/null || true)

out=$PWD/bin/release/$version
rm -rf "$out"
mkdir -p "$out"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# built SYSTEM COMMIT VERSION TARGET builds packages in that system, into a directory.
built() {
	local release=${1%/*} rocksdb=""
	[ "$1" = "$release" ] || rocksdb=${1#*/}
	SYSTEMS_COMMIT=$2 deploy/system.sh "$release" env ROCKSDB=$rocksdb ${3:+VERSION=$3} make "$4" >&2
	SYSTEMS_COMMIT=$2 deploy/system.sh "$release" tar -c -C bin/packages .
}
if [ "$(id -u)" = 0 ] && command -v debootstrap >/dev/null; then
	systems=${RELEASE_SYSTEMS:-bookworm trixie bookworm/11}
	tried=${RELEASE_TRIED:-$(for s in $systems; do
		for r in $systems; do [[ $r == */* || ($s != */* && $r != "$s") ]] || echo "$r:$s"; done
	done)}
	for s in $systems; do
		mkdir -p "$work/$s.before" "$work/$s.now"
		say "$VERSION for $s, twice"
		built "$s" HEAD "$VERSION" reproduce | tar -x -C "$work/$s.now"
		say "what to upgrade from on $s: ${from:-the same, as 0.0.1}"
		built "$s" "${from:-HEAD}" "$([ -n "$from" ] || echo 0.0.1)" packages | tar -x -C "$work/$s.before"
		cp "$work/$s.now"/* "$out/"
	done
	say "checks"
	deploy/packages/check.sh "$out"
	for t in $tried; do deploy/packages/try.sh "${t%%:*}" "$work/${t#*:}.before" "$work/${t#*:}.now"; done
else
	say "for this system only, and not installed: that needs root, and apt-get install debootstrap"
	make reproduce
	cp bin/packages/* "$out/"
	deploy/packages/check.sh "$out"
fi

# notes prints what is new, and how to know that the files are these.
notes() {
	printf '# adshard %s\n' "$version"
	awk -v of="## $version (" '/^## /{ on = index($0, of) == 1; next } on' CHANGELOG.md
	printf '\n## Files\n\nPackages are for the system that their version names, with its RocksDB or, `+rocksdb11`, without. `make packages` on that system, from this commit and with %s, gives the same bytes: compare them with SHA256SUMS.\n\n```\n' \
		"$(go env GOVERSION)"
	cat "$out/SHA256SUMS"
	printf '```\n'
}
(cd "$out" && sha256sum -- *.deb *.cdx.json >SHA256SUMS)
notes >"$out/NOTES.md"
say "$out"
ls "$out"
if [ "$VERSION" = "$version" ]; then
	echo "to tag it: git tag -a v$version --cleanup=verbatim -F $out/NOTES.md"
else
	echo "this was a rehearsal: to release, put the date in place of '(not released)' in CHANGELOG.md, commit, and do it again"
fi
