# shellcheck shell=bash
# Compiles the portable core as Embedded Swift, for platforms without Swift's system library. Source setup.sh first.
: "${root:?}"

# The modules of the core and Browser, each after those that it imports.
core_modules="KernelInterface CLibrary SystemModule SHA256Instructions KernelsBaseline KernelsDotProduct \
TensorModule ImagePipeline Files NetworkModule DermaFusion Figures Browser"

# embedded_swift TRIPLE MODULE FOLDER ARGUMENT...: runs the compiler on a module, which finds those before it in FOLDER.
# TARGET_FLAGS go to it as they are.
embedded_swift() {
  local triple=$1 module=$2 folder=$3 optimisation=-O
  shift 3
  local settings=()
  case $module in
    KernelsBaseline)
      optimisation=-Ounchecked
      settings+=(-D KERNEL_BASELINE -enable-experimental-feature BuiltinModule)
      ;;
    KernelsDotProduct)
      optimisation=-Ounchecked
      settings+=(-D KERNEL_DOT_PRODUCT -enable-experimental-feature BuiltinModule)
      ;;
    ImagePipeline) settings+=(-enable-experimental-feature BuiltinModule) ;;
    TensorModule) settings+=(-enable-upcoming-feature InternalImportsByDefault) ;;
    # They hold no hot loops.
    NetworkModule | Figures | Browser) optimisation=-Osize ;;
  esac
  settings+=(-Xcc "-fmodule-map-file=$root/Sources/CBuiltins/module.modulemap")
  local sources=()
  # Leaves out the folder that needs an operating system.
  mapfile -t sources < <(find -L "$root/Sources/$module" -name '*.swift' ! -path '*/SystemModule/CommandLine/*' | sort)
  # shellcheck disable=SC2086  # the flags are words to be split
  swiftc -target "$triple" -enable-experimental-feature Embedded -swift-version 6 -wmo -parse-as-library \
    -package-name dermafusion -module-name "$module" -module-cache-path "$folder/cache" -I "$folder" \
    "${settings[@]}" ${TARGET_FLAGS:-} "$optimisation" "$@" "${sources[@]}"
}

# has_object MODULE: whether its own object file is made and linked. Embedded Swift puts the code of a module into those that
# import it, so Browser.o holds the code of these three too. The others hold hot loops, compiled for speed, and come first.
has_object() { [ -n "${all_objects:-}" ] || ! [[ $1 =~ ^(Files|NetworkModule|DermaFusion)$ ]]; }

# core_imports MODULE: the modules of the core that it imports.
core_imports() {
  grep -RhoE --include='*.swift' '^[a-z@_ ]*\bimport [a-z]* ?[A-Za-z0-9]+' "$root/Sources/$1" | sed 's/.* //' | sort -u \
    | grep -xF -f <(tr ' ' '\n' <<< "$core_modules") | grep -vx "$1" || true
}

# compile_core TRIPLE FOLDER: all modules in FOLDER, compiled again where a source is newer: their interfaces, and the object
# files of those that have one. As many are compiled at once as there are cores. A module can be compiled as soon as those
# that it imports have written their interface, which the compiler does before it makes their code.
compile_core() {
  local triple=$1 folder=$2 module needed is_stale waiting="" cores
  local -A imports=() processes=()
  cores=$(getconf _NPROCESSORS_ONLN)
  mkdir -p "$folder"
  for module in $core_modules; do
    imports[$module]=$(core_imports "$module")
    is_stale=false
    if [ ! -e "$folder/$module.swiftmodule" ] || { has_object "$module" && [ ! -e "$folder/$module.o" ]; } \
      || [ -n "$(find -L "$root/Sources/$module" -newer "$folder/$module.swiftmodule" -name '*.swift' | head -n 1)" ]; then
      is_stale=true
    fi
    # It holds their code.
    for needed in ${imports[$module]}; do [ -e "$folder/$needed.swiftmodule" ] || is_stale=true; done
    $is_stale || continue
    rm -f "$folder/$module.o" "$folder/$module.swiftmodule"
    waiting="$waiting $module"
  done
  while [ -n "${waiting// /}" ] || [ "${#processes[@]}" -gt 0 ]; do
    for module in $waiting; do
      [ "${#processes[@]}" -lt "$cores" ] || break
      for needed in ${imports[$module]}; do [ -e "$folder/$needed.swiftmodule" ] || continue 2; done
      say "  $module"
      local code=()
      if has_object "$module"; then code=(-c -o "$folder/$module.part"); fi
      embedded_swift "$triple" "$module" "$folder" -emit-module -emit-module-path "$folder/$module.swiftmodule" \
        ${code[@]+"${code[@]}"} < /dev/null &
      processes[$module]=$!
      waiting=" $waiting "
      waiting=${waiting/ $module / }
    done
    sleep 0.1
    for module in "${!processes[@]}"; do
      ! kill -0 "${processes[$module]}" 2> /dev/null || continue
      if ! wait "${processes[$module]}"; then
        unset "processes[$module]"
        [ "${#processes[@]}" = 0 ] || kill "${processes[@]}" 2> /dev/null || true
        fail "$module does not compile as Embedded Swift for $triple"
      fi
      unset "processes[$module]"
      if has_object "$module"; then mv "$folder/$module.part" "$folder/$module.o"; fi
    done
  done
}

# The object files of compile_core, one a line.
core_objects() {
  local folder=$1 module
  for module in $core_modules; do ! has_object "$module" || printf '%s\n' "$folder/$module.o"; done
}

# build_core TRIPLE FOLDER LINK: compiles the core into FOLDER and calls LINK. Where it fails, as with a compiler that leaves
# the code of other modules to them, once more with the object files of all modules.
build_core() {
  compile_core "$1" "$2"
  "$3" 2> /dev/null && return
  local all_objects=true
  compile_core "$1" "$2"
  "$3"
}

# The folder of the toolchain's library for a triple of Embedded Swift.
embedded_library() {
  local compiler
  compiler=$(readlink -f "$(command -v swiftc)")
  printf '%s\n' "$(dirname "$(dirname "$compiler")")/lib/swift/embedded/$1"
}

# install_packages PACKAGE...: installs those of Debian's packages that are missing.
install_packages() {
  local package missing=()
  command -v dpkg-query > /dev/null || cannot_run "Debian's packages are needed: $*"
  for package in "$@"; do
    dpkg-query -W -f '${Status}' "$package" 2> /dev/null | grep -q 'ok installed' || missing+=("$package")
  done
  [ "${#missing[@]}" = 0 ] && return
  say "Installing ${missing[*]} ..."
  local log
  log=$(mktemp)
  { as_root apt-get update && as_root env DEBIAN_FRONTEND=noninteractive \
    apt-get install -y --no-install-recommends "${missing[@]}"; } < /dev/null > "$log" 2>&1 || {
    tail -n 20 "$log" >&2
    rm -f "$log"
    cannot_run "${missing[*]} could not be installed"
  }
  rm -f "$log"
}

# The Python environment of the checks that drive Chromium: .build/web-checks/env.
set_up_web_checks() {
  local environment=$root/.build/web-checks/env requirements=$root/Scripts/checks/tests/web/requirements.txt
  # The requirements are copied only after all of them were installed.
  cmp -s "$requirements" "$environment/requirements.txt" && return
  say "Installing the Python packages that drive Chromium ..."
  local python
  find_python
  { "$python" -m venv "$environment" && "$environment/bin/pip" install --quiet --no-compile -r "$requirements"; } >&2 \
    || cannot_run "what $requirements lists could not be installed"
  cp "$requirements" "$environment/requirements.txt"
}
