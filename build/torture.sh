#!/usr/bin/env bash
# Tortures every kind of locks and of stores for as long as is given: locks one after another, and beside them
# transactions, which wait most of the time.
# A run that proves nothing (6) is made once more; one that has found something (1) is not.
set -euo pipefail
cd "$(dirname "$0")/.."

length=${1:?how long each, such as 20s}
mkdir -p bin
go build -o bin/bedrock-torture ./cmd/bedrock

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# try leaves what a run says in the files report and log of its lane, and prints the report at once.
try() {
	local lane=$1 code=0
	shift
	bin/bedrock-torture torture "$@" --for "$length" >"$work/$lane.report" 2>"$work/$lane.log" || code=$?
	cat "$work/$lane.report"
	return "$code"
}

torture() {
	local lane=$1 code=0
	try "$@" || code=$?
	if [ "$code" = 6 ]; then
		code=0
		try "$@" || code=$?
	fi
	[ "$code" = 0 ] || {
		shift
		printf '\n== %s has ended with %s\n' "$*" "$code"
		tail -n 3 "$work/$lane.log"
		cat "$work/$lane.report"
	} >>"$work/failed"
}

transactions() {
	for scene in sqlite postgres mariadb redis; do
		torture tx tx --start "$scene"
	done
}

transactions &
for scene in memory redis replica sentinel cluster server etcd zookeeper postgres mariadb sqlite; do
	torture locks locks --start "$scene"
done
wait $!

# Said once more at the end, where it is looked for.
[ ! -e "$work/failed" ] || {
	cat "$work/failed"
	exit 1
}
