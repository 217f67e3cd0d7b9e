#!/usr/bin/env bash
# Sees to the servers, the browser and the Java tools that the tests start. Without
# arguments it installs what is missing where it can (Debian and Ubuntu, as root)
# and says what to do elsewhere; with --list it only names what is missing.
set -euo pipefail

# Servers that Debian and Homebrew keep off the PATH; the tests look there, too.
for dir in /usr/lib/postgresql/*/bin {/opt/homebrew,/usr/local}/opt/postgresql@*/bin /usr/sbin; do
	PATH=$PATH:$dir
done

# One line per server: the binaries the tests look for, any of which will do, and
# the Debian package.
servers=(
	"redis-server|valkey-server redis-server"
	"mariadbd|mysqld mariadb-server"
	"initdb postgresql"
	"chromium|chromium-browser|google-chrome|/Applications/Google Chrome.app/Contents/MacOS/Google Chrome chromium"
	"javac default-jdk-headless"
	"mvn maven"
)

# missing prints the packages whose binaries are not there.
missing() {
	local line binaries
	for line in "${servers[@]}"; do
		IFS='|' read -r -a binaries <<<"${line% *}"
		# Empty only when none of them is there.
		[[ -n $(command -v "${binaries[@]}") ]] || echo "${line##* }"
	done
}

# install adds packages without starting anything: tests run their own servers
# on ports of their own, and a service would only be in the way.
install() {
	local policy=/usr/sbin/policy-rc.d
	if [[ ! -e $policy ]]; then
		printf '#!/bin/sh\nexit 101\n' >"$policy"
		chmod +x "$policy"
		trap 'rm -f /usr/sbin/policy-rc.d' EXIT
	fi
	export DEBIAN_FRONTEND=noninteractive
	apt-get update -qq
	apt-get install -y -qq --no-install-recommends "$@"
}

# advise says how to get them by hand.
advise() {
	echo "missing servers: $*"
	echo "  Debian, Ubuntu:  sudo make servers"
	echo "  Fedora:          sudo dnf install redis mariadb-server postgresql-server \\"
	echo "                       chromium java-latest-openjdk-devel maven"
	echo "  Arch:            sudo pacman -S redis mariadb postgresql chromium jdk-openjdk maven"
	echo "  macOS:           brew install redis mariadb postgresql@17 openjdk maven"
	echo "                   brew install --cask google-chrome"
	echo "Valkey does as well as Redis."
	echo "Nothing needs to run: the tests start their own servers on free ports."
}

read -r -a packages <<<"$(missing | tr '\n' ' ')"
if [[ ${#packages[@]} -eq 0 ]]; then
	[[ ${1:-} == --list ]] || echo "all servers are installed"
elif [[ ${1:-} == --list ]]; then
	echo "${packages[*]}"
elif command -v apt-get >/dev/null && [[ $(id -u) -eq 0 ]]; then
	install "${packages[@]}"
else
	advise "${packages[@]}"
	exit 1
fi
