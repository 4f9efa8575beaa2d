# shellcheck shell=bash
# The shared library of the C interface. Source setup.sh and packaging.sh first.

library_soname=libdermafusion.so.1

# build_library: builds the shared library with the standard library, libpng, libjpeg and zlib in it. Sets `library`.
# It takes the objects that build_portable makes, and the other way round.
build_library() {
  find_portable_flags
  product=DermaFusionC build "the shared library" "${portable_flags[@]}" -Xlinker -soname -Xlinker "$library_soname" \
    -Xlinker "--version-script=$root/Sources/CDermaFusion/dermafusion.map"
  library=$root/.build/release/libDermaFusionC.so
}

# stage_library FOLDER: puts the shared library, its header and its pkg-config file under FOLDER, and prints their names,
# one a line.
stage_library() {
  local folder=$1 version stripped
  version=$(sed -n 's/.*static let current = "\(.*\)"/\1/p' "$root/Sources/DermaFusion/DermaFusionVersion.swift")
  stripped=$(mktemp)
  cp "$library" "$stripped"
  strip --strip-unneeded "$stripped"
  install -d "$folder/lib/pkgconfig" "$folder/include"
  # Beside the old file first: a program that runs keeps the file that it was started with.
  install -m 755 "$stripped" "$folder/lib/$library_soname.new"
  mv -f "$folder/lib/$library_soname.new" "$folder/lib/$library_soname"
  rm -f "$stripped"
  ln -sfn "$library_soname" "$folder/lib/libdermafusion.so"
  install -m 644 "$root/Sources/CDermaFusion/dermafusion.h" "$folder/include/dermafusion.h"
  # Goes by its own place, so that the folder may be moved.
  cat > "$folder/lib/pkgconfig/dermafusion.pc" << END
prefix=\${pcfiledir}/../..
libdir=\${prefix}/lib
includedir=\${prefix}/include
model=\${prefix}/share/dermafusion/Weights

Name: dermafusion
Description: Classifies dermoscopy images; a research and educational tool, not a medical device
Version: $version
Libs: -L\${libdir} -ldermafusion
Cflags: -I\${includedir}
END
  printf '%s\n' "lib/$library_soname" lib/libdermafusion.so include/dermafusion.h lib/pkgconfig/dermafusion.pc
}
