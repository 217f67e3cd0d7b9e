#!/usr/bin/env bash
# Tortures every kind of locks and of stores for as long as is given, one after another.
# A run that proves nothing (6) is made once more; one that has found something (1) is not.
set -euo pipefail
cd "$(dirname "$0")/.."

length=${1:?how long each, such as 20s}
mkdir -p bin
go build -o bin/bedrock-torture ./cmd/bedrock

failed=0
torture() {
	local code=0
	bin/bedrock-torture torture "$@" --for "$length" 2>/dev/null || code=$?
	if [ "$code" = 6 ]; then
		code=0
		bin/bedrock-torture torture "$@" --for "$length" 2>/dev/null || code=$?
	fi
	[ "$code" = 0 ] || failed=1
}

for scene in memory redis replica sentinel cluster server; do
	torture locks --start "$scene"
done
for scene in sqlite postgres mariadb redis; do
	torture tx --start "$scene"
done
exit "$failed"
