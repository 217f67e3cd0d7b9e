#!/usr/bin/env bash
# Sees to the servers, the browser and the Java tools that the tests start. Without
# arguments it installs what is missing where it can (Debian and Ubuntu, as root)
# and says what to do elsewhere; with --list it only names what is missing.
set -euo pipefail
cd "$(dirname "$0")/.."

# Servers that Debian and Homebrew keep off the PATH; the tests look there, too.
for dir in /usr/lib/postgresql/*/bin {/opt/homebrew,/usr/local}/opt/postgresql@*/bin /usr/sbin; do
	PATH=$PATH:$dir
done
PATH=$PWD/bin:$PATH # what is built here comes first

# One line per server: the binaries the tests look for, any of which will do, and
# the Debian package.
servers=(
	"redis-server|valkey-server redis-server"
	"mariadbd|mysqld mariadb-server"
	"initdb postgresql"
	"pgbouncer pgbouncer"
	"etcd etcd-server"
	"etcdctl etcd-client"
	"chromium|chromium-browser|google-chrome|/Applications/Google Chrome.app/Contents/MacOS/Google Chrome chromium"
	"javac default-jdk-headless"
	"/usr/share/java/zookeeper.jar zookeeper"
	"mvn maven"
)

# missing prints the packages whose binaries are not there.
missing() {
	local line binaries
	for line in "${servers[@]}"; do
		IFS='|' read -r -a binaries <<<"${line% *}"
		# Empty only when none of them is there. What is no program is a file.
		[[ -n $(command -v "${binaries[@]}") || -e ${binaries[0]} ]] || echo "${line##* }"
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

# build makes etcd and its client in the versions of build/etcd, from their sources: what
# distributions have is years old. It takes two minutes for the first time, and none
# while bin has those of the same module file. Without Go or the sources, the packages
# have to do.
build() {
	local stamp=bin/etcd.stamp sum
	command -v go >/dev/null || return 0
	sum=$(cat build/etcd/go.mod build/etcd/go.sum | cksum)
	[[ -x bin/etcd && -x bin/etcdctl && $(cat "$stamp" 2>/dev/null) == "$sum" ]] && return
	echo "building etcd"
	mkdir -p bin
	if CGO_ENABLED=0 go -C build/etcd build -o ../../bin/etcd go.etcd.io/etcd/server/v3 &&
		CGO_ENABLED=0 go -C build/etcd build -o ../../bin/etcdctl go.etcd.io/etcd/etcdctl/v3; then
		echo "$sum" >"$stamp"
	fi
}

# advise says how to get them by hand.
advise() {
	echo "missing servers: $*"
	echo "  Debian, Ubuntu:  sudo make servers"
	echo "  Fedora:          sudo dnf install redis mariadb-server postgresql-server pgbouncer etcd \\"
	echo "                       chromium java-latest-openjdk-devel maven"
	echo "  Arch:            sudo pacman -S redis mariadb postgresql pgbouncer etcd chromium jdk-openjdk maven"
	echo "  macOS:           brew install redis mariadb postgresql@17 pgbouncer etcd openjdk maven"
	echo "                   brew install --cask google-chrome"
	echo "ZooKeeper is looked for where Debian puts it: /usr/share/java/zookeeper.jar."
	echo "Valkey does as well as Redis."
	echo "Nothing needs to run: the tests start their own servers on free ports."
}

[[ ${1:-} == --list ]] || build
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
