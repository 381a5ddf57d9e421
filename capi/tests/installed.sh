#!/bin/sh
# Installs Crease in a new directory and builds the examples with it, as users do: by pkg-config and by CMake. What is not
# there for that is told, and left out.
set -eu
here=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
prefix=$scratch/prefix
"$here/install.sh" "$prefix"

# has COMMAND: whether it is there; if not, that is told.
has() {
  command -v "$1" > /dev/null && return
  echo "SKIPPED, nothing was tested with it: $1 is not installed" >&2
  return 1
}

# runs PROGRAM: it has to agree with plain loops.
runs() {
  LD_LIBRARY_PATH=$prefix/lib "$1" "$here/examples/plate.crk" > /dev/null
  echo "ok: ${1##*/}"
}

if has pkg-config; then
  PKG_CONFIG_PATH=$prefix/lib/pkgconfig
  export PKG_CONFIG_PATH
  # shellcheck disable=SC2046
  cc -std=c99 "$here/examples/plate.c" -o "$scratch/plate_c" $(pkg-config --cflags --libs crease)
  runs "$scratch/plate_c"
  if has c++; then
    # shellcheck disable=SC2046
    c++ -std=c++17 "$here/examples/plate.cpp" -o "$scratch/plate_cpp" $(pkg-config --cflags --libs crease)
    runs "$scratch/plate_cpp"
  fi
  if has gfortran; then
    # shellcheck disable=SC2046
    gfortran -J "$scratch" "$(pkg-config --variable=fortran crease)" "$here/examples/plate.f90" -o "$scratch/plate_fortran" \
      $(pkg-config --libs crease)
    runs "$scratch/plate_fortran"
  fi
fi
if has cmake; then
  # The archive needs what isl's package for developers brings along, as any program that names -lisl.
  with_static=OFF
  if echo 'int main(void) { return 0; }' | cc -x c - -lisl -o "$scratch/isl" 2> /dev/null; then with_static=ON; fi
  [ $with_static = ON ] || echo "SKIPPED, the archive was not tested: the linker finds no -lisl" >&2
  with_fortran=OFF
  if has gfortran; then with_fortran=ON; fi
  cmake -S "$here/tests/installed" -B "$scratch/build" -DCMAKE_PREFIX_PATH="$prefix" -DEXAMPLES="$here/examples" \
    -DWITH_STATIC=$with_static -DWITH_FORTRAN=$with_fortran > "$scratch/cmake.log" || { cat "$scratch/cmake.log"; exit 1; }
  cmake --build "$scratch/build" > "$scratch/cmake.log" 2>&1 || { cat "$scratch/cmake.log"; exit 1; }
  for program in "$scratch"/build/plate_*; do runs "$program"; done
fi
