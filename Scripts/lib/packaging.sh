# shellcheck shell=bash
# What installing and releasing share. Source setup.sh first.

# read_prefix [--prefix DIR]: sets `prefix`, an absolute path.
read_prefix() {
  if [ "$(id -u)" = 0 ]; then prefix=/usr/local; else prefix=$HOME/.local; fi
  while [ $# -gt 0 ]; do
    case $1 in
      --prefix) [ $# -ge 2 ] || fail "--prefix needs a folder"; prefix=$2; shift 2 ;;
      --prefix=*) prefix=${1#--prefix=}; shift ;;
      -h | --help) sed -n 's/^# //p' "$0" | head -n 2; exit 0 ;;
      *) say "error: unknown argument '$1'; usage: $(basename "$0") [--prefix DIR]"; exit 64 ;;
    esac
  done
  [ -n "$prefix" ] || fail "--prefix needs a folder"
  mkdir -p "$prefix"
  prefix=$(cd "$prefix" && pwd)
}

# What SwiftPM is told so that the standard libraries of Swift and C++, libpng, libjpeg and zlib are in what it builds, which
# then runs where only the C library is. Sets `portable_flags` and, on Linux, `archives`, a folder with the static libraries.
find_portable_flags() {
  local name path folder
  portable_flags=(--static-swift-stdlib)
  [ "$(uname)" = Linux ] || return 0
  # The linker takes the first folder that has a library of the name: one with archives alone. SwiftPM puts the folders that
  # pkg-config's files name before all others, so these files have to name it too.
  archives=$root/.build/archives
  rm -rf "$archives"
  mkdir -p "$archives"
  for name in libpng16.a libpng.a libjpeg.a libz.a libstdc++.a; do
    path=$("${CC:-cc}" -print-file-name="$name" 2> /dev/null || true)
    [ -f "$path" ] && ln -s "$(realpath "$path")" "$archives/$name"
  done
  for name in libpng libjpeg; do
    folder=$(pkg-config --variable pcfiledir "$name" 2> /dev/null || true)
    [ -f "$folder/$name.pc" ] && sed "s|^libdir=.*|libdir=$archives|" "$folder/$name.pc" > "$archives/$name.pc"
  done
  portable_flags+=(-Xswiftc "-L$archives" -Xswiftc -Xclang-linker -Xswiftc -static-libgcc -Xlinker -lz -Xlinker -lm)
}

# Builds the program. Sets `program`.
build_portable() {
  find_portable_flags
  PKG_CONFIG_PATH=${archives:-}:${PKG_CONFIG_PATH:-} build "a copy to install" "${portable_flags[@]}"
  program=$root/.build/release/dermafusion
}

# stage FOLDER: puts the program and all that belongs to it under FOLDER, and a list of it, by which uninstall goes.
stage() {
  local folder=$1 share=share/dermafusion files=() name
  put() {
    # Beside the old file first: a program that runs keeps the file that it was started from.
    install -d "$folder/$(dirname "$3")"
    install -m "$1" "$2" "$folder/$3.new"
    mv -f "$folder/$3.new" "$folder/$3"
    files+=("$3")
  }
  local stripped text
  stripped=$(mktemp)
  text=$(mktemp)
  cp "$program" "$stripped"
  strip "$stripped"
  put 755 "$stripped" bin/dermafusion
  while IFS= read -r name; do put 644 "$root/Weights/$name" "$share/Weights/$name"; done \
    < <(cd "$root/Weights" && find . -type f | sed 's|^\./||' | sort)
  put 644 "$root/LICENSE" "$share/LICENSE"
  "$program" completions bash > "$text"
  put 644 "$text" share/bash-completion/completions/dermafusion
  "$program" completions zsh > "$text"
  put 644 "$text" share/zsh/site-functions/_dermafusion
  "$program" completions fish > "$text"
  put 644 "$text" share/fish/vendor_completions.d/dermafusion.fish
  "$program" manual > "$text"
  put 644 "$text" share/man/man1/dermafusion.1
  # Where install built it.
  if [ -n "${library:-}" ]; then
    while IFS= read -r name; do files+=("$name"); done < <(stage_library "$folder")
  fi
  printf '%s\n' "${files[@]}" > "$folder/$share/installed-files"
  rm -f "$stripped" "$text"
}

# file_size FILE: in MB.
file_size() { wc -c < "$1" | awk '{ printf "%.1f MB", $1 / 1e6 }'; }
