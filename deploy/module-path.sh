#!/bin/sh
# Gives the Go modules of this checkout another path: rewrites go.mod files, imports, linker flags, options of
# generators and documents, and builds the generated code anew (make generate, with its tools). Commit before it.
# Usage: deploy/module-path.sh NEW, such as github.com/OWNER/adshard
set -eu
cd "$(dirname "$0")/.."
new=${1:-}
case $new in "" | -* | */ | *[!A-Za-z0-9._~/-]*) echo "usage: deploy/module-path.sh NEW, such as github.com/OWNER/adshard" >&2 && exit 2 ;; esac
[ -z "$(git status --porcelain)" ] || { echo "module-path.sh: commit your changes first, so that git can take this one back" >&2 && exit 1; }
old=$(sed -n 's/^module //p' go.mod)
packages=$(git ls-tree -d --name-only HEAD | grep -vxE 'deploy|docs' | paste -sd '|')
export old new packages
# The name is also that of a program, of directories on servers and of the protocol (adshard/v1), which stay.
git grep -lIFe "$old" -- ':!deploy/module-path.sh' | xargs perl -pi -e '
	BEGIN { ($old, $new, $packages) = (quotemeta $ENV{old}, @ENV{"new", "packages"}) }
	s{(?<![\w/.-])$old(?=/(?:$packages)\b)}{$new}g;
	s{(?<=")$old(?=/(?!v\d))}{$new}g if $ARGV =~ /\.go$/;
	s{(?<=const Module = ")$old(?=")}{$new};
	s{(?<=module=)$old(?![\w/.-])}{$new};
	s{(-(?:require|replace) )$old(?=[=@])}{$1$new};
	s{^(module |replace |\t)$old(?= v0| =>|$)}{$1$new} if $ARGV =~ /go\.mod$/'
git ls-files '*.go' | xargs gofmt -w
make generate
