#!/usr/bin/env bash
# Runs go test with the arguments given, and repeats at the end what failed: among the output
# of a hundred packages nobody finds it.
set -uo pipefail

log=$(mktemp)
trap 'rm -f "$log"' EXIT
go test "$@" 2>&1 | tee "$log"
code=$?

failures='^ *--- FAIL|^panic:|^fatal error:|^WARNING: DATA RACE|^found unexpected goroutines'
failures+='|\[(build|setup) failed\]'
if [ "$code" != 0 ]; then
	echo
	echo "== what failed"
	grep -vE ' (INFO|WARN|ERROR) |^(ok|\?)\s' "$log" | grep -E -A 25 "$failures" | head -n 200
	grep -E $'^FAIL\t' "$log"
fi
exit "$code"
