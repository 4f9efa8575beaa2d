# shellcheck shell=bash
# Building the engine for WebAssembly. Source setup.sh first.

# shellcheck source=Scripts/lib/core.sh
source "$(dirname "${BASH_SOURCE[0]}")/core.sh"

# build_wasm FILE.wasm: compiles the portable core with Browser to one file for browsers with 128-bit vectors, and to
# FILE.relaxed.wasm, whose 8-bit products are of relaxed SIMD. Only one module differs between them.
build_wasm() {
  local output=$1 folder="$root/.build/wasm32" triple=wasm32-unknown-none-wasm vectors="-Xcc -msimd128"
  local products="$folder/KernelsDotProduct.o"
  # A browser draws with its own means.
  local core_modules=${core_modules/ Figures/}
  find_swift
  install_packages wasi-libc
  mkdir -p "$folder"
  clang --target=wasm32-unknown-wasi -O2 -c "$root/Scripts/lib/embedded_runtime.c" -o "$folder/runtime.o"
  # shellcheck disable=SC2329  # build_core calls it
  link_wasm() {
    # The stack comes first in memory, so an overflow traps instead of overwriting other memory.
    # shellcheck disable=SC2046  # one word a line
    wasm-ld --no-entry --gc-sections -O2 --strip-all --stack-first -z stack-size=1048576 -o "$folder/linked.wasm" \
      /usr/lib/wasm32-wasi/crt1-reactor.o $(core_objects "$folder" | sed "s|.*/KernelsDotProduct.o|$products|") \
      "$folder/runtime.o" \
      "$(embedded_library "$triple")/libswiftUnicodeDataTables.a" -L/usr/lib/wasm32-wasi -lc
  }
  TARGET_FLAGS=$vectors build_core "$triple" "$folder" link_wasm
  mkdir -p "$(dirname "$output")"
  mv "$folder/linked.wasm" "$output"
  products="$folder/products.o"
  TARGET_FLAGS="$vectors -Xcc -mrelaxed-simd -D KERNEL_HAS_ITS_INSTRUCTIONS" \
    embedded_swift "$triple" KernelsDotProduct "$folder" -c -o "$products"
  link_wasm
  mv "$folder/linked.wasm" "${output%.wasm}.relaxed.wasm"
}
