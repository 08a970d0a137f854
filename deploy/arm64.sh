#!/bin/bash
# Builds all programs for arm64 on an amd64, with Debian's cross-compiler and its RocksDB for arm64, and runs under qemu-user
# the tests of what depends on the processor the most: what reads and writes bytes, searches, ranks and prices.
# All of it is in a system of its own, by debootstrap (system.sh: root, and a mirror), so nothing of this machine but Go
# is used. What this does not show: another order of writes to memory (qemu's is that of this processor), times, and
# clusters (the tests that start the programs). Usage: arm64.sh [RELEASE] [PACKAGE...] (bookworm, those below)
set -eu -o pipefail
if [ "${1:-}" = run ]; then
	# As go test -exec calls it. A test that starts itself again, by os.Args[0], gets this too: the kernel takes no
	# arm64 programs.
	mv "$2" "$2.arm64"
	printf '#!/bin/sh\nexec qemu-aarch64-static -0 "$0" "$0.arm64" "$@"\n' >"$2"
	chmod +x "$2"
	exec "${@:2}"
fi
cd "$(dirname "$0")/.."
packages=(./auction ./backend/fields/... ./barrels/... ./blocklist ./budget ./fault ./places ./quality/... ./schema/... ./scorer ./search/... ./targeting)

if [ "${1:-}" != inside ]; then
	export SYSTEMS_DIR=${SYSTEMS_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}/adshard/arm64}
	exec deploy/system.sh "${1:-bookworm}" deploy/arm64.sh inside "${@:2}"
fi
shift

wanted="gcc-aarch64-linux-gnu g++-aarch64-linux-gnu librocksdb-dev:arm64 qemu-user-static"
dpkg --add-architecture arm64
dpkg -s $wanted >/dev/null 2>&1 || {
	apt-get -q update
	DEBIAN_FRONTEND=noninteractive apt-get -q -y --no-install-recommends install $wanted
} >/dev/null

export GOOS=linux GOARCH=arm64 CGO_ENABLED=1 CC=aarch64-linux-gnu-gcc CXX=aarch64-linux-gnu-g++
echo "RocksDB $(deploy/rocksdb.sh choice)"
settings=$(deploy/rocksdb.sh env) # eval would go on without them
eval "$settings"
go build -o bin/arm64/ ./cmd/...
go -C bench build -o ../bin/arm64/ ./cmd/...
qemu-aarch64-static bin/arm64/adshard --version
[ $# = 0 ] || packages=("$@")
go test -short -count=1 -vet=off -timeout 60m -exec "$PWD/deploy/arm64.sh run" "${packages[@]}"
