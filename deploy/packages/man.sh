#!/bin/bash
# Writes a manual page for each command of a program, from its --help. Usage: man.sh PROGRAM DIR
set -eu -o pipefail
program=$1 dir=$2
mkdir -p "$dir"
title=$("$program" --version | cut -d' ' -f1,2)

# page COMMAND... writes its page, and those of the commands below it.
page() {
	local name=adshard${*:+-$(tr ' ' - <<<"$*")} help short sub below=()
	help=$("$program" "$@" --help)
	short=$(awk 'NF { printf "%s%s", s, $0; s = " "; next } { exit }' <<<"$help" | sed 's/[.:].*//')
	{
		printf '.TH %s 1 "" "%s"\n.SH NAME\n%s \\- %s\n.SH DESCRIPTION\n.nf\n' "${name^^}" "$title" "$name" "$short"
		# Headings of the help become sections, the rest stays as it is.
		sed -e 's/\\/\\e/g' -e 's/-/\\-/g' -e "s/^[.']/\\\\\&&/" -E -e 's/^(Usage|Aliases|Examples|Available Commands|Flags|Global Flags|Environment):$/.SH \U\1\E\n.nf/' <<<"$help"
		[ -z "$*" ] || printf '.SH "SEE ALSO"\n.BR adshard (1)\n'
	} | gzip -9n >"$dir/$name.1.gz"
	mapfile -t below < <(sed -nE '/^Available Commands:/,/^$/s/^  ([a-z]+) .*/\1/p' <<<"$help" | grep -vx help || true)
	[ -n "$*" ] || below+=(master slave balancer distributor) # run by units, and not in the help
	for sub in ${below[@]+"${below[@]}"}; do page "$@" "$sub"; done
}
page
