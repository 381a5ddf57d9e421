#!/bin/sh
# Installs Crease for C, C++ and Fortran: install.sh PREFIX
#
# Builds what is released and copies into PREFIX (DESTDIR before it, as packagers want it):
#   lib/libcrease.so.0.1.0 and its links, lib/libcrease.a, lib/pkgconfig/crease.pc, lib/cmake/Crease/
#   include/crease.h, include/crease.hpp, share/crease/crease.f90 (compiled beside the program that uses it)
#
# CARGO_TARGET_DIR, CC and STRIP are heeded. isl is linked as a shared library: archives of it hold code for executables.
set -eu
if [ $# -ne 1 ]; then
  echo "usage: install.sh PREFIX" >&2
  exit 2
fi
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
case $1 in
  /*) prefix=$1 ;;
  *) prefix=$(pwd)/$1 ;;
esac
root=${DESTDIR:-}$prefix
version=$(sed -n 's/^#define CREASE_VERSION "\(.*\)"$/\1/p' "$here/include/crease.h")
if [ "${CREASE_ISL:-dynamic}" != dynamic ]; then
  echo "install.sh: CREASE_ISL=$CREASE_ISL makes no shared library; leave it unset" >&2
  exit 2
fi
export CREASE_ISL=dynamic

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

cd "$here/.."
# Only a build that has something to do says what the archive needs; so one file counts as changed.
touch capi/src/lib.rs
cargo rustc --release -p crease-capi --lib --crate-type staticlib -- --print native-static-libs 2> "$scratch/log" ||
  { cat "$scratch/log" >&2; exit 1; }
libraries=$(sed -n 's/^note: native-static-libs: //p' "$scratch/log" | tail -n 1)
if [ -z "$libraries" ]; then
  cat "$scratch/log" >&2
  echo "install.sh: the compiler did not say which libraries the archive needs" >&2
  exit 1
fi
target=${CARGO_TARGET_DIR:-target}/release
# isl may be without the name that -lisl looks for; then its build script has made a link of that name.
isl=$(find "$target/build" -name 'libisl.so' -path '*crease-isl*' -printf '%T@ %h\n' | sort -n | tail -n 1)
isl=${isl#* }

mkdir -p "$root/lib/pkgconfig" "$root/lib/cmake/Crease" "$root/include" "$root/share/crease"
# shellcheck disable=SC2086
"$here/link_shared.sh" "$target/libcrease_c.a" "$root/lib/libcrease.so.$version" -Wl,--strip-debug ${isl:+-L"$isl"} \
  $libraries
ln -sf "libcrease.so.$version" "$root/lib/libcrease.so.0"
ln -sf libcrease.so.0 "$root/lib/libcrease.so"
cp "$target/libcrease_c.a" "$root/lib/libcrease.a"
# Lines for debuggers are half of it. Whoever has no `strip` keeps them.
"${STRIP:-strip}" --strip-debug "$root/lib/libcrease.a" 2> /dev/null || true
cp "$here/include/crease.h" "$here/include/crease.hpp" "$root/include/"
cp "$here/fortran/crease.f90" "$root/share/crease/"

# fill FROM TO: a file with what this installation is.
fill() {
  sed -e "s|@prefix@|$prefix|g" -e "s|@version@|$version|g" -e "s|@libraries@|$libraries|g" "$1" > "$2"
}
fill "$here/cmake/crease.pc.in" "$root/lib/pkgconfig/crease.pc"
fill "$here/cmake/CreaseConfig.cmake.in" "$root/lib/cmake/Crease/CreaseConfig.cmake"
fill "$here/cmake/CreaseConfigVersion.cmake.in" "$root/lib/cmake/Crease/CreaseConfigVersion.cmake"
echo "installed Crease $version in $root"
