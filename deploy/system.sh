#!/bin/bash
# Runs a command in a checkout of HEAD on another release of Debian: in a system that debootstrap makes once and that has nothing
# but git, make, sudo, and the Go and modules of this machine. Nothing that the command starts outlives it.
# Usage: system.sh RELEASE [COMMAND...], such as
#   system.sh trixie make test
#   system.sh bookworm env ROCKSDB=11 make packages
# Without a command it prints the directory of the bare system, which has none of these. Needs root, debootstrap and a mirror.
# SYSTEMS_DIR (~/.cache/adshard/systems) is where systems are kept, SYSTEMS_MIRROR the mirror, else it is apt's here;
# SYSTEMS_COMMIT is what is checked out in place of HEAD.
set -eu -o pipefail
cd "$(dirname "$0")/.."
release=${1:-}
case $release in "" | *[!a-z]*) sed -n '2,/^set/{/^#/p}' "$0" | cut -c3- >&2; exit 2 ;; esac
shift
fail() { printf 'system.sh: %s\n' "$*" >&2; exit 1; }
[ "$(id -u)" = 0 ] && command -v debootstrap >/dev/null || fail "needs root, and apt-get install debootstrap"
dir=${SYSTEMS_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}/adshard/systems}/$release
mkdir -p "$dir"

# mirror prints the first mirror of apt; a system has one of the two forms of its sources, or both.
mirror() {
	cat /etc/apt/sources.list /etc/apt/sources.list.d/*.sources 2>/dev/null |
		sed -nE 's/^URIs: *([^ ]+).*/\1/p; s/^deb (\[[^]]*\] )?([^ ]+) .*/\2/p' | sed q
}
# made NAME COMMAND... makes a directory, whole or not at all.
made() {
	[ ! -e "$dir/$1" ] || return 0
	rm -rf "$dir/part"
	"${@:2}" >"$dir/log" 2>&1 || { tail "$dir/log" >&2; fail "$1 of $release: all of the log is in $dir/log"; }
	mv "$dir/part" "$dir/$1"
}
of=${SYSTEMS_MIRROR:-$(mirror || true)}
[ -n "$of" ] || fail "apt has no mirror here: set SYSTEMS_MIRROR"
made bare debootstrap --variant=minbase --include=ca-certificates "$release" "$dir/part" "$of"
cp /etc/resolv.conf "$dir/bare/etc/resolv.conf"
[ $# != 0 ] || { echo "$dir/bare"; exit 0; }

# inside DIRECTORY COMMAND... runs a command in the system, in processes and with mounts of its own.
inside() {
	unshare --pid --fork --kill-child --mount --propagation private bash -eu -c 'root=$1 modules=$2
		mount --bind "$root" "$root"
		mount -t proc proc "$root/proc"
		mount -t sysfs sysfs "$root/sys"
		mount --rbind /dev "$root/dev"
		mount -t tmpfs -o mode=1777 tmpfs "$root/dev/shm"
		mount -t tmpfs tmpfs "$root/run"
		mkdir -p "$root/root/go/pkg/mod"
		[ ! -d "$modules" ] || mount --bind "$modules" "$root/root/go/pkg/mod"
		cd "$root"
		pivot_root . mnt # in a mere chroot /proc/self/exe is a path outside of it
		exec chroot . /bin/sh -c "umount -l /mnt && exec \"\$@\"" sh \
			/usr/bin/env -i -C "$3" HOME=/root PATH=/usr/local/go/bin:/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 "${@:4}"' \
		bash "$root" "$(go env GOMODCACHE)" "$@"
}
tools() {
	cp -a "$dir/bare" "$dir/part"
	cp -aL "$(go env GOROOT)" "$dir/part/usr/local/go"
	mkdir -p "$dir/part/usr/local/share/ca-certificates"
	cp -r /usr/local/share/ca-certificates/. "$dir/part/usr/local/share/ca-certificates/" # what this machine trusts beside Debian's
	root=$dir/part
	inside / update-ca-certificates
	inside / sh -c 'apt-get -q update && DEBIAN_FRONTEND=noninteractive apt-get -q -y --no-install-recommends install git make sudo'
}
made system tools
root=$dir/system
[ "$(cat "$root/usr/local/go/VERSION")" = "$(cat "$(go env GOROOT)/VERSION")" ] || fail "Go is another one than $dir/system has: remove that directory"
[ -d "$root/root/adshard" ] || git init -q "$root/root/adshard"
git -C "$root/root/adshard" fetch -q --tags "$PWD" "$(git rev-parse "${SYSTEMS_COMMIT:-HEAD}^{commit}")"
git -C "$root/root/adshard" checkout -q -f --detach FETCH_HEAD
inside /root/adshard "$@"
