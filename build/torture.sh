#!/usr/bin/env bash
# Tortures every kind of locks and of stores for as long as is given, one after another.
# A run that proves nothing (6) is made once more; one that has found something (1) is not.
set -euo pipefail
cd "$(dirname "$0")/.."

length=${1:?how long each, such as 20s}
mkdir -p bin
go build -o bin/bedrock-torture ./cmd/bedrock

report=$(mktemp) log=$(mktemp)
trap 'rm -f "$report" "$log"' EXIT
failed=()

try() {
	local code=0
	bin/bedrock-torture torture "$@" --for "$length" >"$report" 2>"$log" || code=$?
	cat "$report"
	return "$code"
}

torture() {
	local code=0
	try "$@" || code=$?
	if [ "$code" = 6 ]; then
		code=0
		try "$@" || code=$?
	fi
	[ "$code" = 0 ] || failed+=("== $* has ended with $code"$'\n'"$(tail -n 3 "$log")"$'\n'"$(<"$report")")
}

for scene in memory redis replica sentinel cluster server etcd zookeeper postgres mariadb sqlite; do
	torture locks --start "$scene"
done
for scene in sqlite postgres mariadb redis; do
	torture tx --start "$scene"
done

# Said once more at the end, where it is looked for.
[ ${#failed[@]} = 0 ] || printf '\n%s\n' "${failed[@]}"
exit $((${#failed[@]} > 0))
