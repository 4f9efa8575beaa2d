# shellcheck shell=bash
# The shared library of the C interface. Source setup.sh and packaging.sh first.
: "${root:?}" "${configuration:?}"

library_soname=libdermafusion.so.1

# build_library: builds the shared library with all libraries in it but the C library, in `configuration`. Sets `library`, and
# `library_map`, which names what the linker took.
# Linux only: other systems take the product DermaFusionC as SwiftPM builds it.
build_library() {
  local folder=$root/.build/$configuration/library archive
  find_portable_flags
  : "${archives:=}" # set above, on Linux
  # The objects are those of build_portable, or of the tests in debug. SwiftPM's own library would need Swift's shared ones,
  # and cannot be linked with the archives, whose code is not position-independent for symbols that others may replace: it
  # is linked anew below.
  if [ "$configuration" = debug ]; then portable_flags=(); fi
  product=DermaFusionC build "the shared library" "${portable_flags[@]}"
  for archive in libpng16.a libjpeg.a libz.a libstdc++.a; do
    [ -f "$archives/$archive" ] || fail "$archive is needed, which the development files of its library bring"
  done
  mkdir -p "$folder"
  "${CC:-cc}" -fPIC -O2 -Wall -c "$root/Scripts/lib/library_stderr.c" -o "$folder/library_stderr.o"
  library=$folder/$library_soname
  swiftc -emit-library -static-stdlib -use-ld=lld -o "$library" \
    "@$root/.build/$configuration/DermaFusionC.product/Objects.LinkFileList" "$folder/library_stderr.o" \
    "-L$archives" -lpng16 -ljpeg -lz -lm -Xclang-linker -static-libgcc \
    -Xlinker -soname -Xlinker "$library_soname" -Xlinker --gc-sections -Xlinker -z -Xlinker relro -Xlinker -z -Xlinker now \
    -Xlinker "--version-script=$root/Sources/CDermaFusion/dermafusion.map" -Xlinker "-Map=$folder/link-map" \
    || fail "the shared library could not be linked"
  # shellcheck disable=SC2034  # build-wheel reads it
  library_map=$folder/link-map
  strip --strip-unneeded "$library"
}

# stage_library FOLDER: puts the shared library, its header and its pkg-config file under FOLDER, which has none of them yet.
stage_library() {
  local folder=$1
  install -d "$folder/lib/pkgconfig" "$folder/include"
  install -m 755 "$library" "$folder/lib/$library_soname"
  ln -s "$library_soname" "$folder/lib/libdermafusion.so"
  install -m 644 "$root/Sources/CDermaFusion/dermafusion.h" "$folder/include/dermafusion.h"
  # Paths start from this file's own folder, so that the installation may be moved. With the rpath, a program finds the
  # library in folders that the loader does not search, such as ~/.local/lib.
  cat > "$folder/lib/pkgconfig/dermafusion.pc" << END
prefix=\${pcfiledir}/../..
libdir=\${prefix}/lib
includedir=\${prefix}/include
model=\${prefix}/share/dermafusion/Weights

Name: dermafusion
Description: Classifies dermoscopy images; a research and educational tool, not a medical device
Version: $(program_version)
Libs: -L\${libdir} -Wl,-rpath,\${libdir} -ldermafusion
Cflags: -I\${includedir}
END
}
