#!/bin/bash
# Builds the Debian packages, with a list of what is in them (SBOM), into DIR. The bytes depend on the
# commit and the tools only, not on the directory, the time or the user. Usage: build.sh [DIR]
# Their version ends in the system that they are for, as in 1.2.3+deb12, so that they are upgraded with it, and in
# +rocksdb11 if they are linked statically with RocksDB 11 in place of the system's (deploy/rocksdb.sh).
# build.sh --version prints the version without that. VERSION=1.2.3 sets it, else it is that of the newest heading of
# CHANGELOG.md; MAINTAINER="NAME <ADDRESS>" is who is named as the maintainer.
set -eu -o pipefail
cd "$(dirname "$0")/../.."
here=deploy/packages
release=$(sed -nE 's/^## ([0-9][0-9.]*).*/\1/p' CHANGELOG.md | head -n 1)
commit=${COMMIT:-$(git rev-parse HEAD)$(git diff --quiet HEAD || echo -modified)}
export MAINTAINER=${MAINTAINER:-adshard authors <adshard@localhost>} SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
# Between releases a version sorts before the release that it leads to.
if [ -z "${VERSION:-}" ]; then
	VERSION=$release
	[ "$(git tag --points-at HEAD "v$release" 2>/dev/null)" = "v$release" ] ||
		VERSION="$release~$(date -u -d "@$SOURCE_DATE_EPOCH" +%Y%m%d%H%M%S).${commit:0:12}"
fi
[ "${1:-}" != --version ] || { echo "$VERSION"; exit 0; }
out=$(mkdir -p "${1:-bin/packages}" && cd "${1:-bin/packages}" && pwd)
chosen=$(deploy/rocksdb.sh choice)
rocksdb=${chosen%% *}
VERSION+=+$(. /etc/os-release && sed 's/^debian/deb/' <<<"$ID${VERSION_ID:-}" | tr -cd 'a-z0-9.')
[ $rocksdb != 11 ] || VERSION+=+rocksdb11
ARCH=$(dpkg --print-architecture)
STAGE=$(mktemp -d)
trap 'rm -rf "$STAGE"' EXIT
umask 022
# What Go was told by this machine must not get into the programs.
export GOWORK=off GOFLAGS="-trimpath -buildvcs=false" GOEXPERIMENT= CGO_CFLAGS= CGO_CXXFLAGS= CGO_LDFLAGS=
unset GOAMD64 GOARM64
settings=$(deploy/rocksdb.sh env) # eval would go on without them
eval "$settings"
also=""
[ $rocksdb != 11 ] || also=$(deploy/rocksdb.sh linked)
flags="-s -w -buildid= -X adshard/internal/version.release=$VERSION -X adshard/internal/version.commit=$commit"

# stage PACKAGE CGO_ENABLED lays out the files of a package, as they are to be installed.
stage() {
	local root=$STAGE/$1 doc=$STAGE/$1/usr/share/doc/$1
	mkdir -p "$root/usr/bin" "$doc" "$root/usr/share/bash-completion/completions" "$root/usr/share/zsh/vendor-completions" \
		"$root/usr/share/fish/vendor_completions.d"
	CGO_ENABLED=$2 go build -ldflags="$flags" -o "$root/usr/bin/adshard" ./cmd/adshard
	"$root/usr/bin/adshard" completion bash >"$root/usr/share/bash-completion/completions/adshard"
	"$root/usr/bin/adshard" completion zsh >"$root/usr/share/zsh/vendor-completions/_adshard"
	"$root/usr/bin/adshard" completion fish >"$root/usr/share/fish/vendor_completions.d/adshard.fish"
	$here/man.sh "$root/usr/bin/adshard" "$root/usr/share/man/man1"
	local more=()
	[ "$2" = 0 ] || [ -z "$also" ] || more=(-also "$also")
	CGO_ENABLED=$2 "$STAGE/modules" "${more[@]}" copyright >"$doc/copyright"
	CGO_ENABLED=$2 "$STAGE/modules" "${more[@]}" sbom "$VERSION" >"$doc/sbom.cdx.json"
	cp "$doc/sbom.cdx.json" "$out/$1_${VERSION}_$ARCH.cdx.json"
	gzip -9nc docs/install.md >"$doc/install.md.gz"
	gzip -9nc CHANGELOG.md >"$doc/CHANGELOG.md.gz"
	printf '%s (%s) unstable; urgency=medium\n\n  * See CHANGELOG.md.gz.\n\n -- %s  %s\n' "$1" "$VERSION" "$MAINTAINER" \
		"$(LC_ALL=C date -u -R -d "@$SOURCE_DATE_EPOCH")" | gzip -9n >"$doc/changelog.gz"
	install -D -m 0644 "$here/$1.lintian-overrides" "$root/usr/share/lintian/overrides/$1"
	[ "$1" != adshard ] || install -D -m 0644 -t "$root/usr/share/adshard/profiles" deploy/profiles/*.yaml
}
# depends prints the packages of the shared libraries that a program is linked with.
depends() {
	mkdir -p "$STAGE/shlibs/debian"
	printf 'Source: adshard\n\nPackage: adshard\nArchitecture: any\n' >"$STAGE/shlibs/debian/control"
	(cd "$STAGE/shlibs" && dpkg-shlibdeps -O --warnings=0 -e"$1" 2>/dev/null) | sed -n 's/^shlibs:Depends=//p'
}
go build -o "$STAGE/modules" ./internal/modules
nfpm=$(go tool -modfile=tools/packages/go.mod -n nfpm)
stage adshard 1
stage adshard-client 0
install -D -m 0644 -t "$STAGE/adshard/lib/systemd/system" $here/systemd/*.service
install -D -m 0644 -t "$STAGE/adshard/lib/systemd/system/adshard-.service.d" $here/systemd/adshard-.service.d/*.conf
install -D -m 0644 -t "$STAGE/etc" $here/etc/*.yaml
install -D -m 0755 -t "$STAGE/scripts" $here/scripts/*
DEPENDS=$(depends "$STAGE/adshard/usr/bin/adshard")
export VERSION ARCH DEPENDS
find "$STAGE" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +
for p in adshard adshard-client; do
	(cd "$STAGE" && "$nfpm" package -p deb -f "$OLDPWD/$here/$p.yaml" -t "$out/${p}_${VERSION}_$ARCH.deb")
done
