#!/bin/bash
# Tries packages as a user would, in a system of their own: installs, starts what the units start, imports
# the demo's data, asks, upgrades under way, puts the client in place of all, and purges; nothing may be left.
# There is no systemd in it; what the units forbid is tried by other means: the programs run as their user, on a
# file system that is read-only but for /var/lib/adshard and /tmp, and a system call that SystemCallFilter= refuses
# is an error. Needs root, debootstrap, strace, iproute2, curl, jq and a mirror (system.sh).
# Usage: try.sh [RELEASE BEFORE NOW]: the name of Debian's release, and directories with the packages to upgrade from
# and to; without them the release of this machine, and two versions of HEAD that are built here.
set -eu -o pipefail
cd "$(dirname "$0")/../.."
[ "$(id -u)" = 0 ] || { echo "try.sh needs root" >&2; exit 2; }
for tool in debootstrap strace ip systemd-analyze curl jq; do
	command -v $tool >/dev/null || { echo "try.sh needs $tool" >&2; exit 2; }
done
dir=$(mktemp -d)
root=$dir/root holder=""
declare -A pids=()
finish() {
	local p
	for p in "${pids[@]}"; do pkill -KILL -P "$p" || true; done # what strace traces would outlive it
	[ -z "$holder" ] || kill -KILL "$holder" 2>/dev/null || true
	wait 2>/dev/null || true
	! mountpoint -q "$root/proc" || umount "$root/proc"
	rm -rf --one-file-system "$dir"
}
trap finish EXIT
trap 'exit 1' INT TERM
say() { printf '\n== %s\n' "$*"; }
fail() { printf 'FAILED: %s\n' "$*" >&2; exit 1; }
inside() { chroot "$root" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive "$@"; }
apt() { inside apt-get -q -y --no-install-recommends "$@" >"$dir/apt.log" 2>&1 || { tail -n 20 "$dir/apt.log" >&2; fail "apt-get $*"; }; }
# files lists the system's files and users, without logs, caches, dpkg's own books and adduser's lock in /run.
files() {
	(cd "$root" && find . -xdev \( -path ./proc -o -path ./tmp -o -path ./var/cache -o -path ./var/log -o -path ./var/lib/apt -o -path ./var/lib/dpkg -o -path ./packages \) -prune -o -print |
		grep -vE '^\./(run/adduser|etc/(ld\.so\.cache|(passwd|group|g?shadow|subuid|subgid)-))$' | sort)
	cat "$root/etc/passwd" "$root/etc/group"
}

release=${1:-$(. /etc/os-release && echo "$VERSION_CODENAME")} before=${2:-$dir/before.packages} now=${3:-$dir/now.packages}
if [ $# != 3 ]; then
	say "two versions of the packages"
	VERSION=1.0.0 deploy/packages/build.sh "$before"
	VERSION=1.0.1 deploy/packages/build.sh "$now"
fi
go -C bench build -o "$dir/adbench" ./cmd/adbench
# version DIR prints the version of the packages in a directory.
version() { dpkg-deb -f "$1"/adshard_*.deb Version; }
# package NAME DIR prints the file of a package, as the system has it.
package() { echo "/packages/$1_$(version "$2")_$(dpkg --print-architecture).deb"; }
was=$(version "$before") is=$(version "$now")

say "$release, from $was to $is"
cp -a "$(deploy/system.sh "$release")" "$root"
cp /etc/resolv.conf "$root/etc/resolv.conf"
mkdir -p "$root/packages"
cp "$before"/*.deb "$now"/*.deb "$root/packages/"
mount -t proc proc "$root/proc"
apt update
files >"$dir/before"

say "install"
apt install "$(package adshard "$before")"
inside adshard --version
[ "$(inside adshard --version | cut -d' ' -f1,2)" = "adshard $was" ] || fail "the version"
inside stat -c '%U %a %n' /var/lib/adshard | grep -qx 'adshard 700 /var/lib/adshard' || fail "who owns /var/lib/adshard"
for i in 1 2; do
	sed "s/710/71$i/g" "$root/etc/adshard/slave-0.yaml" >"$root/etc/adshard/slave-$i.yaml"
done
sed -i 's/^slaves: 1/slaves: 3/' "$root/etc/adshard/balancer.yaml"
echo '# changed by its user' >>"$root/etc/adshard/master.yaml"

# The holder keeps a network with loopback only, and the file system as ProtectSystem=strict shows it.
unshare --net --mount --propagation private sh -c "ip link set lo up
	mount --bind '$root' '$root' && mount -t proc proc '$root/proc' && mount -t tmpfs tmpfs '$root/tmp'
	mount --bind '$root/var/lib/adshard' '$root/var/lib/adshard' && mount -o remount,bind,ro '$root' && touch '$dir/held'
	exec sleep infinity" &
holder=$!
until [ -e "$dir/held" ]; do kill -0 $holder || fail "no namespaces"; sleep 0.1; done
user() { nsenter -t "$holder" -n -m chroot --userspec=adshard:adshard "$root" /usr/bin/env -i PATH=/usr/bin:/bin HOME=/var/lib/adshard "$@"; }

# expand NAME prints the system calls of a group, with those of the groups in it.
expand() {
	local call
	for call in $(systemd-analyze syscall-filter "$1" | grep -oE '^ +[@a-z0-9_-]+' | tr -d ' '); do
		case $call in @*) expand "$call" ;; *) echo "$call" ;; esac
	done
}
# allowed prints the system calls that the units allow, as the lines of SystemCallFilter= add and remove them.
allowed() {
	local line word
	: >"$dir/calls"
	while read -r line; do
		for word in ${line#\~}; do
			case $word in @*) expand "$word" ;; *) echo "$word" ;; esac
		done | sort -u >"$dir/some"
		case $line in
		\~*) sort -u "$dir/calls" | comm -23 - "$dir/some" >"$dir/now" ;;
		*) sort -u "$dir/calls" "$dir/some" >"$dir/now" ;;
		esac
		mv "$dir/now" "$dir/calls"
	done < <(sed -n 's/^SystemCallFilter=//p' "$root/lib/systemd/system/adshard-.service.d/10-common.conf")
	expand @default >>"$dir/calls"
	sort -u "$dir/calls" | grep -vx execve | sed 's/^/?/' | paste -sd,
}
calls=$(allowed)
[ "$(tr , '\n' <<<"$calls" | wc -l)" -gt 200 ] || fail "the system calls that are allowed: $calls"
# start UNIT [INSTANCE] runs what a unit runs.
start() {
	local name=$1${2:+$2} command
	command=$(sed -n "s/^ExecStart=//p" "$root/lib/systemd/system/$1.service" | sed "s/%i/${2:-}/g")
	: >"$dir/$name.log"
	nsenter -t "$holder" -n -m strace -f -qq -e signal=none --seccomp-bpf -o "$dir/$name.calls" -e "trace=!$calls" \
		chroot "$root" setpriv --reuid=adshard --regid=adshard --clear-groups --bounding-set=-all --no-new-privs \
		/usr/bin/env -i -C /var/lib/adshard PATH=/usr/bin:/bin $command >>"$dir/$name.log" 2>&1 &
	pids[$name]=$!
}
# stop NAME asks it to end, as systemd does.
stop() {
	local name=$1 status=0
	pkill -TERM -P "${pids[$name]}" || fail "$name has ended: $(tail -n 5 "$dir/$name.log")"
	wait "${pids[$name]}" || status=$?
	unset "pids[$name]"
	[ $status = 0 ] || fail "$name ended with $status: $(tail -n 5 "$dir/$name.log")"
	# What comes after the program's own start.
	grep -q 'execve("/usr/bin/adshard"' "$dir/$name.calls" || fail "the system calls of $name were not seen"
	# A thread that ends under strace can leave a line that names no call.
	sed -e '1,/execve("\/usr\/bin\/adshard"/d' -e '/^[0-9]* *???( <detached \.\.\.>$/d' "$dir/$name.calls" >"$dir/refused"
	[ ! -s "$dir/refused" ] || fail "$name makes system calls that its unit refuses: $(head -n 5 "$dir/refused")"
}
ready() {
	local i
	for i in $(seq 600); do
		[ "$(page 8081 /readyz)" != ready ] || return 0
		sleep 0.1
	done
	tail -n 5 "$dir"/adshard-*.log >&2
	fail "the master is not ready: $(page 8081 /readyz)"
}
page() { nsenter -t "$holder" -n curl -s "http://127.0.0.1:$1$2" || true; }
ask() { user adshard query --json usb cable | jq '{ads, complete: .coverage.complete}'; }

say "import and ask"
"$dir/adbench" corpus --keywords 20000 --seed 1 --out "$dir/ads.csv" --queries "$dir/queries.txt" >/dev/null
install -m 0644 "$dir/ads.csv" "$root/packages/ads.csv"
user adshard import --db sqlite:/var/lib/adshard/ads.db /packages/ads.csv
start adshard-balancer
for i in 0 1 2; do start adshard-slave@ slave-$i; done
start adshard-master
start adshard-distributor
start adshard-collector
ready
ask >"$dir/answer.before"
[ "$(jq '.complete and (.ads | length > 0)' "$dir/answer.before")" = true ] || fail "the answer: $(cat "$dir/answer.before")"
for port in 7001 7101 7111 7121 7201 8081 8091; do
	page $port /metrics | grep '^adshard_build_info{' | grep -qF "version=\"$was\"" || fail "adshard_build_info at $port"
done
page 7001 /console/overview | grep -q '<h1>Overview</h1>' || fail "the balancer's console: $(page 7001 /console/overview)"
page 8081 /console/query | grep -q '<h1>Query</h1>' || fail "the master's console: $(page 8081 /console/query)"

say "upgrade under way"
apt install "$(package adshard "$now")"
tail -n 1 "$root/etc/adshard/master.yaml" | grep -q '# changed by its user' || fail "the configuration was replaced"
page 8081 /metrics | grep '^adshard_build_info{' | grep -qF "version=\"$was\"" || fail "the upgrade has restarted the master"
for name in adshard-slave@slave-{0,1,2} adshard-distributor adshard-balancer adshard-master adshard-collector; do
	stop "$name"
	case $name in *@*) start "${name%@*}@" "${name#*@}" ;; *) start "$name" ;; esac
	ready
	for i in $(seq 100); do # what has just started is ready, too
		[ "$(for p in 7101 7111 7121 7001; do page $p /readyz; done | sort -u)" != ready ] || break
		sleep 0.1
	done
done
for port in 7001 7101 7111 7121 7201 8081 8091; do
	page $port /metrics | grep '^adshard_build_info{' | grep -qF "version=\"$is\"" || fail "adshard_build_info at $port after the upgrade"
done
ask >"$dir/answer.after"
diff "$dir/answer.before" "$dir/answer.after" || fail "the answers differ"

say "the client in place of all"
apt install "$(package adshard-client "$now")"
[ "$(inside dpkg-query -W -f='${db:Status-Status}' adshard)" = config-files ] || fail "adshard is still installed"
ask | diff "$dir/answer.after" - || fail "the client's answer differs"
! ldd "$root/usr/bin/adshard" >/dev/null 2>&1 || fail "the client has shared libraries"
! user adshard up --db sqlite:x.db 2>"$dir/up.err" && grep -q 'so without RocksDB' "$dir/up.err" || fail "the client's up"
for name in "${!pids[@]}"; do stop "$name"; done

say "remove and purge"
apt install "$(package adshard "$now")"
apt remove adshard
[ -e "$root/var/lib/adshard/ads.db" ] && [ -e "$root/etc/adshard/master.yaml" ] || fail "a removal without --purge took data or configuration"
kill "$holder" && { wait "$holder" 2>/dev/null || true; }
holder=""
apt purge adshard
apt autoremove --purge
# A dependency of Debian 13's apt names adduser as the other choice, so autoremove keeps it once the package has brought it.
grep -qx ./usr/sbin/adduser "$dir/before" || apt purge adduser
files >"$dir/after"
diff "$dir/before" "$dir/after" || fail "this is left, or gone"
say "all as it should be"
