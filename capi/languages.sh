#!/bin/sh
# The same cavity in Rust, C, C++, Fortran and Python: the same bits, and how fast: languages.sh [CELLS [STEPS [ROUNDS]]]
#
# Builds and installs the library into a directory of its own, compiles the programs of capi/examples/, and runs them in
# turn; the median of each counts, and stands beside that of Rust. A language whose compiler is missing is left out and
# said to be; so is Python where PYTHON (python3) cannot import crease (pip install ./python). CC, CXX, FC are heeded.
#
# With --build DIR, only builds there; with --built DIR, only measures what was built there.
set -eu
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
do=all
case ${1:-} in
  --build | --built) do=${1#--} scratch=$2; shift 2 ;;
  *) scratch=$(mktemp -d); trap 'rm -rf "$scratch"' EXIT ;;
esac
cells=${1:-512} steps=${2:-2000} rounds=${3:-9}
python=${PYTHON:-python3}

skip() { echo "SKIPPED, $1 is not measured: $2" >&2; }

# build LANGUAGE COMPILER FLAGS..: compiles its program; FLAGS end with the source.
build() {
  language=$1 compiler=$2
  shift 2
  if ! command -v "$compiler" > /dev/null; then
    skip "$language" "$compiler is not installed"
    return
  fi
  (cd "$scratch" && "$compiler" -O2 -I"$scratch/prefix/include" "$@" -o "$language" -L"$scratch/prefix/lib" -lcrease -lm)
}

if [ $do != built ]; then
  "$here/install.sh" "$scratch/prefix" > "$scratch/log" 2>&1 || { cat "$scratch/log" >&2; exit 1; }
  (cd "$here/.." && cargo build -q --release -p crease-capi --example cavity)
  cp "${CARGO_TARGET_DIR:-$here/../target}/release/examples/cavity" "$scratch/Rust"
  build C "${CC:-cc}" "$here/examples/cavity.c"
  build C++ "${CXX:-c++}" -std=c++17 "$here/examples/cavity.cpp"
  build Fortran "${FC:-gfortran}" -std=f2018 "$scratch/prefix/share/crease/crease.f90" "$here/examples/cavity.f90"
fi
[ $do = build ] && exit 0

export LD_LIBRARY_PATH="$scratch/prefix/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
languages=
for language in Rust C C++ Fortran; do
  [ -x "$scratch/$language" ] && languages="$languages $language"
done
if (cd / && "$python" -c 'import crease') 2> /dev/null; then
  languages="$languages Python"
else
  skip Python "$python cannot import crease"
fi

: > "$scratch/measured"
round=0
while [ $round -lt "$rounds" ]; do
  for language in $languages; do
    case $language in
      Python) set -- "$python" "$here/examples/cavity.py" ;;
      *) set -- "$scratch/$language" ;;
    esac
    "$@" "$here/examples/cavity.crk" "$cells" "$steps" > "$scratch/said"
    awk -v language="$language" 'tolower($0) ~ /million cells a second/ { speed = $1 }
      tolower($1) == "checksum" { print language, speed, tolower($2) }' "$scratch/said" >> "$scratch/measured"
  done
  round=$((round + 1))
done

echo "cavity of $cells by $cells cells, $steps steps, medians of $rounds rounds:"
sort -k1,1 -k2,2n "$scratch/measured" | awk -v order="$languages" '
  { n[$1]++; speed[$1, n[$1]] = $2; bits[$1] = bits[$1] && bits[$1] != $3 ? "different" : $3 }
  END {
    count = split(order, languages, " ")
    for (k = 1; k <= count; k++) {
      l = languages[k]
      median = speed[l, int((n[l] + 1) / 2)]
      if (k == 1) { first = median; checksum = bits[l] }
      same = bits[l] == checksum ? "the same bits" : "OTHER BITS"
      if (bits[l] != checksum) failed = 1
      printf "  %-8s %7.1f million cells a second, %.3f of Rust (%.1f to %.1f), %s\n", \
        l, median, median / first, speed[l, 1], speed[l, n[l]], same
    }
    exit failed
  }'
