# shellcheck shell=bash
# The common part of the other scripts: finding Swift, and libpng's and libjpeg-turbo's development files.
# All messages go to standard error; standard output is the program's.

unset CDPATH # with it, cd goes elsewhere and prints where
root=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.." && pwd)
configuration=release

say() { printf '%s\n' "$*" >&2; }

fail() {
  say "error: $*"
  exit 1
}

# show_help "$@": prints the comment at the head of the script and ends it, where its first argument asks for help.
show_help() {
  case ${1:-} in
    -h | --help)
      sed -n '2,/^set /s/^# \{0,1\}//p' "$0"
      exit
      ;;
  esac
}

# cannot_run REASON: ends a check that this machine cannot run. Scripts/test counts it as not run.
cannot_run() {
  say "not run: $*"
  exit 69
}

# find_python: sets `python` to Python 3.11 or newer.
find_python() {
  for python in python3.11 python3; do
    "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2> /dev/null && return
  done
  cannot_run "Python 3.11 or newer is needed"
}

program_version() { sed -n 's/.*static let current = "\(.*\)"/\1/p' "$root/Sources/DermaFusion/DermaFusionVersion.swift"; }

# Puts the Swift toolchain on the PATH, or fails and says where to get it.
find_swift() {
  local folder
  for folder in "" /opt/swift/usr/bin /usr/share/swift/usr/bin /usr/libexec/swift/bin /usr/local/swift/usr/bin \
    "$HOME/.local/share/swiftly/bin" "$HOME/.swiftly/bin"; do
    if [ -z "$folder" ]; then
      command -v swift > /dev/null && return
    elif [ -x "$folder/swift" ]; then
      export PATH="$folder:$PATH"
      return
    fi
  done
  fail "Swift 6.2 or newer is needed and was not found; see https://www.swift.org/install"
}

# True if a C program that uses both libraries compiles and links.
libraries_are_there() {
  local compiler flags=""
  compiler=$(command -v clang || command -v cc || true)
  # Without a compiler, SwiftPM reports what is missing.
  [ -n "$compiler" ] || return 0
  if command -v pkg-config > /dev/null; then
    flags=$(pkg-config --cflags --libs-only-L libpng libjpeg 2> /dev/null || true)
  fi
  # shellcheck disable=SC2086  # the flags are words to be split
  printf '%s\n' '#include <stdio.h>' '#include <png.h>' '#include <jpeglib.h>' \
    'int main(void) { return png_access_version_number() == 0 || jpeg_std_error(NULL) == NULL; }' \
    | "$compiler" -x c - $flags -lpng -ljpeg -o /dev/null 2> /dev/null
}

# Runs a command that changes the system, as root.
as_root() {
  if [ "$(id -u)" = 0 ]; then
    "$@"
  elif command -v sudo > /dev/null; then
    sudo "$@"
  else
    return 1
  fi
}

# Installs libpng's and libjpeg-turbo's development files where they are missing.
install_libraries() {
  libraries_are_there && return
  local command
  if [ "$(uname)" = Darwin ]; then
    command="brew install libpng jpeg-turbo pkgconf"
  elif command -v apt-get > /dev/null; then
    command="apt-get install -y --no-install-recommends libpng-dev libjpeg-dev"
  elif command -v dnf > /dev/null; then
    command="dnf install -y libpng-devel libjpeg-turbo-devel"
  else
    fail "the development files of libpng and libjpeg-turbo are needed, and no package manager known here was found"
  fi

  say "The development files of libpng or libjpeg-turbo are missing; running: $command"
  local log
  log=$(mktemp)
  # shellcheck disable=SC2086  # the command is words to be split
  case $command in
    brew*) $command ;;
    apt-get*) as_root apt-get update; as_root env DEBIAN_FRONTEND=noninteractive $command ;;
    *) as_root $command ;;
  esac < /dev/null > "$log" 2>&1 || {
    tail -n 20 "$log" >&2
    rm -f "$log"
    fail "they could not be installed; run this as an administrator, then try again: $command"
  }
  rm -f "$log"
  libraries_are_there || fail "libpng and libjpeg-turbo were installed and still cannot be compiled against"
}

# The packages of the libraries that read WebP, TIFF, HEIC, AVIF and, in DICOM, JPEG 2000. Newer libheif has its decoders in
# packages of their own, which older releases of Debian do not know.
image_library_packages() {
  local package
  if [ "$(uname)" = Darwin ]; then
    echo webp libtiff libheif openjpeg
  elif command -v apt-get > /dev/null; then
    for package in libwebp7 libtiff6 libtiff5 libheif1 libheif-plugin-libde265 libheif-plugin-dav1d libopenjp2-7; do
      # A release has one of the two versions of libtiff.
      if apt-cache show "$package" > /dev/null 2>&1; then echo "$package"; fi
    done
  else
    echo libwebp libtiff libheif openjpeg2
  fi
}

# has_package PACKAGE
has_package() {
  if [ "$(uname)" = Darwin ]; then
    brew list --versions "$1" > /dev/null 2>&1
  elif command -v dpkg-query > /dev/null; then
    dpkg-query -W -f '${Status}' "$1" 2> /dev/null | grep -q 'ok installed'
  else
    rpm -q "$1" > /dev/null 2>&1
  fi
}

# Installs these libraries for the tests, so that none of the formats goes untested. Programs that are built do without them.
install_image_libraries() {
  local package missing=()
  # The lists of a new container are empty.
  if command -v apt-get > /dev/null && ! apt-cache show libwebp7 > /dev/null 2>&1; then
    as_root apt-get update > /dev/null 2>&1 < /dev/null || true
  fi
  for package in $(image_library_packages); do has_package "$package" || missing+=("$package"); done
  [ "${#missing[@]}" = 0 ] && return
  say "Installing ${missing[*]} for the tests ..."
  if [ "$(uname)" = Darwin ]; then
    brew install "${missing[@]}"
  elif command -v apt-get > /dev/null; then
    as_root apt-get update && as_root env DEBIAN_FRONTEND=noninteractive \
      apt-get install -y --no-install-recommends "${missing[@]}"
  else
    as_root dnf install -y "${missing[@]}"
  fi < /dev/null > /dev/null 2>&1 || fail "${missing[*]} could not be installed; install them as an administrator, then try again"
}

set_up() {
  find_swift
  install_libraries
}

# build WHAT [FLAGS...]: builds the program, or the product that `product` names, in release or in the configuration that
# `configuration` names, with flags for SwiftPM. On a terminal one line tells what happens and for how long; the compiler
# speaks only when it fails.
build() {
  local what=$1 folder log first="" seconds=0 step
  shift
  # SwiftPM leaves empty temporary folders behind, so it gets a folder that is removed.
  folder=$(mktemp -d)
  log=$folder/log
  [ -d "$root/.build/$configuration" ] || first=" (the first time this takes two to three minutes on two idle cores)"
  TMPDIR=$folder swift build --package-path "$root" -c "$configuration" --product "${product:-dermafusion}" "$@" \
    < /dev/null > "$log" 2>&1 &
  local compiler=$!
  # A build with nothing to do takes a second or two and needs no message.
  trap 'kill "$compiler" 2> /dev/null; rm -rf "$folder"; exit 130' INT TERM
  while kill -0 "$compiler" 2> /dev/null; do
    sleep 1
    seconds=$((seconds + 1))
    if [ "$seconds" = 3 ] && [ ! -t 2 ]; then say "Building $what$first ..."; fi
    if [ "$seconds" -ge 3 ] && [ -t 2 ]; then
      step=$(tr '\r' '\n' < "$log" | sed -n 's/^\(\[[0-9]*\/[0-9]*\]\).*/\1/p' | tail -n 1)
      printf '\r\033[KBuilding %s%s: %s s %s' "$what" "$first" "$seconds" "$step" >&2
    fi
  done
  trap - INT TERM
  [ "$seconds" -lt 3 ] || [ ! -t 2 ] || printf '\r\033[K' >&2
  if ! wait "$compiler"; then
    cat "$log" >&2
    rm -rf "$folder"
    fail "the build failed"
  fi
  rm -rf "$folder"
}

# True if the program is newer than everything it is made from.
is_built() {
  local program=$root/.build/release/dermafusion
  [ -x "$program" ] \
    && [ -z "$(find "$root/Package.swift" "$root/Sources" -newer "$program" -print -quit)" ]
}

# Builds the program in release, unless it is built.
build_release() {
  local program=$root/.build/release/dermafusion
  if is_built; then return; fi
  build dermafusion
  # SwiftPM does not write a program again that comes out the same.
  touch "$program"
}
