#!/usr/bin/env bash
# Lists the tests that were skipped for want of a server, from the file they
# noted it in, because go test is silent about skipped tests.
set -euo pipefail

if [[ -s $1 ]]; then
	echo
	echo "skipped $(wc -l <"$1") tests; to run them, install what is missing with: make servers"
	sort -u "$1" | sed 's/^/  /'
fi
