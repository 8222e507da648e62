# Functions of the install scripts in this folder, which source this file. A script installs parts into one directory
# DIR. A part has a name and a key, the hash of its sources. The key of the installed part is in DIR/stamp/PART; a part
# with the same key is not installed again. Progress and times go to standard error. Runs that share a directory wait
# for each other.

say() { echo "install: $*" >&2; }
fail() {
	say "$*"
	exit 1
}

# hash prints the SHA-256 hash of standard input.
hash() {
	if command -v sha256sum >/dev/null; then sha256sum; else shasum -a 256; fi | cut -d ' ' -f 1
}

need() {
	command -v "$1" >/dev/null || fail "$1 is missing: $2"
}

# at_least VERSION MAJOR MINOR: reports whether VERSION is MAJOR.MINOR or newer.
at_least() {
	have=${1#v}
	have_major=${have%%.*} have_minor=${have#*.}
	have_minor=${have_minor%%.*}
	[ "$have_major" -gt "$2" ] || { [ "$have_major" -eq "$2" ] && [ "$have_minor" -ge "$3" ]; }
}

need_node() {
	need node "install Node.js 20 or newer"
	need npm "it comes with Node.js"
	at_least "$(node --version)" 20 0 || fail "node is $(node --version): install Node.js 20 or newer"
}

# begin DIR FOLDER: parts are installed into DIR, and go_build builds programs into DIR/FOLDER.
begin() {
	mkdir -p "$1/$2" "$1/stamp"
	dir=$(CDPATH='' cd -- "$1" && pwd)
	bin=$dir/$2
	locked=
	started=$(date +%s)
}

# finish reports the total time, and prints DIR.
finish() {
	total=$(($(date +%s) - started))
	[ "$total" -lt 2 ] || say "all took $total s"
	echo "$dir"
}

# fresh PART KEY: reports whether the part is installed with this key.
fresh() {
	[ -f "$dir/stamp/$1" ] && [ "$(cat "$dir/stamp/$1")" = "$2" ]
}

# part NAME KEY COMMAND...: installs the part with COMMAND, unless the part is fresh.
part() {
	name=$1 key=$2
	shift 2
	if fresh "$name" "$key"; then return; fi
	lock
	if fresh "$name" "$key"; then return; fi
	say "$name ..."
	rm -f "$dir/stamp/$name"
	began=$(date +%s)
	"$@"
	echo "$key" >"$dir/stamp/$name"
	say "$name took $(($(date +%s) - began)) s"
}

# lock waits until no other run uses DIR, and locks DIR until this run ends. It removes the lock of a run that has died.
lock() {
	[ -z "$locked" ] || return 0
	said=
	until mkdir "$dir/lock" 2>/dev/null; do
		holder=$(cat "$dir/lock/pid" 2>/dev/null) || holder=
		if [ -n "$holder" ] && ! kill -0 "$holder" 2>/dev/null; then
			rm -rf "$dir/lock"
			continue
		fi
		[ -n "$said" ] || say "waiting for $dir/lock (process ${holder:-unknown})"
		said=1
		sleep 1
	done
	locked=1
	trap 'rm -rf "$dir/lock"' EXIT
	trap 'exit 130' INT TERM HUP
	echo $$ >"$dir/lock/pid"
}

# npm_part PART: installs the packages of PART/package-lock.json into DIR/PART.
npm_part() {
	part "$1" "$(cat "$here/$1/package.json" "$here/$1/package-lock.json" | hash)" npm_packages "$1"
}

npm_packages() {
	mkdir -p "$dir/$1"
	cp "$here/$1/package.json" "$here/$1/package-lock.json" "$dir/$1"
	(cd "$dir/$1" && npm ci --ignore-scripts --omit=dev --no-audit --no-fund --loglevel=error) >&2
}

# go_key MODULE FLAG...: prints the key of a part that go_build builds: the hash of its sources, the flags and the Go
# version.
go_key() {
	(cd "$1" && shift && { echo "$@" && cat go.mod go.sum $(find . -name '*.go' ! -name '*_test.go' | sort) && GOWORK=off go env GOVERSION GOOS GOARCH; } | hash)
}

# go_build MODULE NAME FLAG... PACKAGE: builds NAME and then renames it into place, because another process may be
# executing the old program.
go_build() {
	(cd "$1" && binary=$2 && shift 2 &&
		GOWORK=off CGO_ENABLED=0 go build -mod=readonly -trimpath -o "$bin/$binary.new" "$@" && mv -f "$bin/$binary.new" "$bin/$binary")
}
