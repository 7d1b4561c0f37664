#!/bin/sh
# Installs Tabwire on Linux and macOS, without Node.js. Settings:
#   TABWIRE_INSTALL_DIR  directory of the command (default: ~/.local/bin)
#   TABWIRE_DOWNLOADS    URL or directory of the downloads (default: those of the release of this script)
set -eu

version='@VERSION@'
downloads=${TABWIRE_DOWNLOADS:-'@DOWNLOADS@'}
bin=${TABWIRE_INSTALL_DIR:-${HOME:?HOME is not set. Set TABWIRE_INSTALL_DIR.}/.local/bin}

fail() {
  printf 'Error: %s\n' "$*" >&2
  exit 1
}

case $(uname -s) in
Linux) system=linux ;;
Darwin) system=darwin ;;
*) fail "There is no download for $(uname -s). With Node.js, run: npm install --global tabwire" ;;
esac
case $(uname -m) in
x86_64 | amd64) processor=x64 ;;
aarch64 | arm64) processor=arm64 ;;
*) fail "There is no download for the processor $(uname -m). With Node.js, run: npm install --global tabwire" ;;
esac
if [ "$system" = linux ] && ldd --version 2>&1 | grep -qi musl; then
  fail 'The download needs glibc, and this system has musl. With Node.js, run: npm install --global tabwire'
fi
archive=tabwire-$version-$system-$processor.tar.gz

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

download() {
  case $downloads in
  http://* | https://*)
    if command -v curl >/dev/null; then
      curl --fail --silent --show-error --location --output "$folder/$1" "$downloads/$1"
    elif command -v wget >/dev/null; then
      wget --quiet --output-document="$folder/$1" "$downloads/$1"
    else
      fail 'Neither curl nor wget is installed. Install one of them.'
    fi
    ;;
  *) cp "$downloads/$1" "$folder/$1" ;;
  esac || fail "Cannot download $downloads/$1."
}

printf 'Downloading %s\n' "$archive"
download SHA256SUMS
download "$archive"

expected=$(sed -n "s/^\([0-9a-f]\{64\}\)  $archive\$/\1/p" "$folder/SHA256SUMS")
[ -n "$expected" ] || fail "SHA256SUMS has no checksum of $archive."
if command -v sha256sum >/dev/null; then
  actual=$(sha256sum <"$folder/$archive")
elif command -v shasum >/dev/null; then
  actual=$(shasum -a 256 <"$folder/$archive")
else
  fail 'Neither sha256sum nor shasum is installed. The checksum cannot be verified.'
fi
[ "${actual%% *}" = "$expected" ] ||
  fail "The checksum of $archive is wrong: expected $expected, got ${actual%% *}. Nothing was installed."

mkdir "$folder/new"
tar -xzf "$folder/$archive" -C "$folder/new"
if [ "$system" = linux ]; then program=$folder/new/tabwire; else program=$folder/new/bin/tabwire; fi
if ! started=$("$program" --version 2>&1); then
  case $started in
  *libatomic*) fail 'The library libatomic.so.1 is missing. Install it (Debian: apt-get install libatomic1, Fedora: dnf install libatomic), then repeat.' ;;
  *Permission*) fail "The download does not run here: $started. Set TMPDIR to a directory whose programs may run, then repeat." ;;
  *) fail "The download does not run here: $started. With Node.js, install it with: npm install --global tabwire" ;;
  esac
fi

mkdir -p "$bin" || fail "Cannot create $bin. Set TABWIRE_INSTALL_DIR to another directory."
[ -w "$bin" ] || fail "Cannot write to $bin. Set TABWIRE_INSTALL_DIR to another directory."
bin=$(cd "$bin" && pwd)
if [ "$system" = linux ]; then
  cp "$program" "$bin/.tabwire-$$"
else
  # Node.js and the program lie in a folder beside the command, which is a link into it.
  cp -R "$folder/new" "$bin/.tabwire-$version-$$"
  ln -s ".tabwire-$version-$$/bin/tabwire" "$bin/.tabwire-$$"
fi
mv -f "$bin/.tabwire-$$" "$bin/tabwire"
# Folders of earlier versions.
[ "$system" = linux ] || for old in "$bin"/.tabwire-*/; do
  [ "$old" = "$bin/.tabwire-$version-$$/" ] || rm -rf "$old"
done

printf 'Installed %s as %s\n' "${started%% *}" "$bin/tabwire"
case :${PATH:-}: in
*:"$bin":*) printf 'Start it with: tabwire start\n' ;;
*) printf 'Add it to your PATH: export PATH="%s:$PATH"\n' "$bin" ;;
esac
