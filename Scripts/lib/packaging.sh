# shellcheck shell=bash
# Installing and releasing. Source setup.sh first.
: "${root:?}"

umask 022 # everybody may read what is installed, its owner alone may write it

# read_prefix [--prefix DIR]: sets `prefix`, an absolute path.
read_prefix() {
  if [ "$(id -u)" = 0 ]; then prefix=/usr/local; else prefix=$HOME/.local; fi
  while [ $# -gt 0 ]; do
    case $1 in
      --prefix) [ $# -ge 2 ] || fail "--prefix needs a folder"; prefix=$2; shift 2 ;;
      --prefix=*) prefix=${1#--prefix=}; shift ;;
      *) say "error: unknown argument '$1'; usage: $(basename "$0") [--prefix DIR]"; exit 64 ;;
    esac
  done
  [ -n "$prefix" ] || fail "--prefix needs a folder"
  case $prefix in /*) ;; *) prefix=$PWD/$prefix ;; esac
  mkdir -p -- "$prefix"
  prefix=$(cd -- "$prefix" && pwd)
}

# Flags for SwiftPM that link the standard libraries of Swift and C++, libpng, libjpeg and zlib statically: the program then
# needs the C library alone. Sets `portable_flags` and, on Linux, `archives`, a folder with the static libraries.
find_portable_flags() {
  local name path folder
  portable_flags=(--static-swift-stdlib)
  [ "$(uname)" = Linux ] || return 0
  # The linker takes a library from the first folder that has it, so a folder with archives alone has to be the first. SwiftPM
  # puts the folders from pkg-config's files before all others, so these files have to name it too.
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
  # LLVM's linker, because the default one keeps references from sections that it drops: libstdc++'s to arc4random, which
  # glibc has since 2.36 only.
  portable_flags+=(-Xswiftc "-L$archives" -Xswiftc -use-ld=lld -Xswiftc -Xclang-linker -Xswiftc -static-libgcc
    -Xlinker -lz -Xlinker -lm)
  # The linker's input, for Scripts/checks/notices. It stays where nothing has to be linked anew.
  link_map=$root/.build/link-map
  portable_flags+=(-Xlinker "-Map=$link_map")
}

# Builds the program. Sets `program`.
build_portable() {
  find_portable_flags
  PKG_CONFIG_PATH=${archives:-}:${PKG_CONFIG_PATH:-} build "a copy to install" "${portable_flags[@]}"
  program=$root/.build/release/dermafusion
}

# make_staging: sets `staging` to an empty folder that is removed when the script ends.
make_staging() {
  mkdir -p "$root/.build"
  staging=$(mktemp -d "$root/.build/staging.XXXXXX")
  trap 'rm -rf "$staging"' EXIT
  # Without these traps a signal ends the shell without running the one above.
  trap 'exit 129' HUP
  trap 'exit 130' INT
  trap 'exit 143' TERM
}

# stage FOLDER: puts the program and all that belongs to it under FOLDER, which is empty. The list that uninstall reads names
# the files and, with a '/' at the end, the folders that hold nothing else.
stage() {
  local folder=$1 share=share/dermafusion name
  put() {
    install -d "$folder/$(dirname "$3")"
    install -m "$1" "$2" "$folder/$3"
  }
  put_output() {
    install -d "$folder/$(dirname "$1")"
    "$program" "${@:2}" > "$folder/$1"
  }
  put 755 "$program" bin/dermafusion
  strip "$folder/bin/dermafusion"
  while IFS= read -r name; do put 644 "$root/Weights/$name" "$share/Weights/$name"; done \
    < <(cd "$root/Weights" && find . -type f | sed 's|^\./||' | LC_ALL=C sort)
  put 644 "$root/LICENSE" "$share/LICENSE"
  put 644 "$root/THIRD_PARTY_NOTICES" "$share/THIRD_PARTY_NOTICES"
  put_output share/bash-completion/completions/dermafusion completions bash
  put_output share/zsh/site-functions/_dermafusion completions zsh
  put_output share/fish/vendor_completions.d/dermafusion.fish completions fish
  put_output share/man/man1/dermafusion.1 manual
  # Only install builds it.
  if [ -n "${library:-}" ]; then stage_library "$folder"; fi
  (cd "$folder" && { find . ! -type d; find "./$share" -type d | sed 's|$|/|'; } | sed 's|^\./||' | LC_ALL=C sort) \
    > "$staging/list"
  install -m 644 "$staging/list" "$folder/$share/installed-files"
}

# check_targets FOLDER PREFIX: refuses to install over a folder or a link to one.
check_targets() {
  local name
  while IFS= read -r name; do
    if [ -d "$2/$name" ]; then fail "$2/$name is a folder; remove or rename it, then try again"; fi
  done < <(cd "$1" && find . ! -type d | sed 's|^\./||')
}

# install_tree FOLDER PREFIX: puts what `stage` made under PREFIX, and adds the folders that it makes to the list. A program
# that runs keeps the file that it was started from. A link in the place of a file is replaced, not followed.
install_tree() {
  local folder=$1 list=share/dermafusion/installed-files name parent made=()
  while IFS= read -r name; do
    parent=$(dirname "$name")
    while [ ! -d "$2/$parent" ]; do
      made+=("$parent/")
      parent=$(dirname "$parent")
    done
    mkdir -p -- "$2/$(dirname "$name")"
    rm -f -- "$2/$name.new"
    cp -pP -- "$folder/$name" "$2/$name.new"
    mv -f -- "$2/$name.new" "$2/$name"
  done < <(cd "$folder" && find . ! -type d | sed 's|^\./||' | LC_ALL=C sort | grep -vxF "$list")
  # Folders that an earlier installation made stay in the list.
  {
    cat "$folder/$list"
    grep '/$' "$2/$list" 2> /dev/null || true
    printf '%s\n' ${made[@]+"${made[@]}"}
  } | sed '/^$/d' | LC_ALL=C sort -u > "$staging/list"
  rm -f -- "$2/$list.new"
  install -m 644 "$staging/list" "$2/$list.new"
  mv -f -- "$2/$list.new" "$2/$list"
}

# file_size FILE: in MB.
file_size() { wc -c < "$1" | awk '{ printf "%.1f MB", $1 / 1e6 }'; }
