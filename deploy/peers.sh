#!/bin/bash
# Installs what the systems that adbench search --peers measures need: PostgreSQL
# from Debian, Lucene Monitor from Maven Central (into bin/lucene). Bleve is part
# of adbench. Usage: peers.sh
set -eu
cd "$(dirname "$0")/.."
fail() { printf '%s\n' "$@" >&2; exit 1; }

# Lucene 10 needs Java 21 or newer: JAVA_HOME's, or the newest that is installed.
java_of() { "$1/bin/javac" -version 2>&1 | sed -n 's/^javac \([0-9]*\).*/\1/p'; }
find_java() {
	for home in "${JAVA_HOME:-}" /usr/lib/jvm/*; do
		version=$(java_of "$home" 2>/dev/null || true)
		if [ "${version:-0}" -ge 21 ]; then
			echo "$home"
			return
		fi
	done
}

missing=""
ls /usr/lib/postgresql/*/bin/postgres >/dev/null 2>&1 || missing="$missing postgresql"
command -v mvn >/dev/null || missing="$missing maven"
if [ -n "$missing" ]; then
	root=""
	if [ "$(id -u)" != 0 ]; then
		command -v sudo >/dev/null || fail "install these as root, then try again: apt-get install$missing"
		root=sudo
	fi
	echo "installing$missing"
	$root apt-get -qq update
	DEBIAN_FRONTEND=noninteractive $root apt-get -qq install -y --no-install-recommends $missing
fi

home=$(find_java)
[ -n "$home" ] || fail "Lucene 10 needs a JDK 21 or newer, which Debian 12 does not have: install one and set JAVA_HOME"
JAVA_HOME=$home mvn -q -B -f bench/peers/lucene/java package
ls bin/lucene/*.jar
