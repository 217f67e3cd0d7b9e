#!/usr/bin/env bash
# Runs the tests in files that the race detector does not compile, with the flags given.
set -uo pipefail
cd "$(dirname "$0")/.."

mapfile -t files < <(grep -rl --include='*_test.go' '^//go:build !race' . | sort)
tests=$(sed -nE "s/^func (Test[A-Za-z0-9_]+)\(.*/\1/p" "${files[@]}" | paste -sd "|")
mapfile -t dirs < <(dirname "${files[@]}" | sort -u)
exec build/gotest.sh "$@" -run "^($tests)\$" "${dirs[@]}"
