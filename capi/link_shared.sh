#!/bin/sh
# Makes the shared library of the archive that cargo builds: link_shared.sh ARCHIVE OUTPUT LIBRARY..
#
# cargo could make one, but without versions of symbols: the linker takes one list of what is exported, and the compiler
# of Rust passes its own. So the C compiler links, with crease.map. LIBRARY.. are what the archive needs, with isl as a
# shared library: archives of it hold code for executables.
set -eu
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
archive=$1
output=$2
shift 2
# Objects of an archive are taken for what is wanted of them.
wanted=$(sed -n 's/^ *\(crease_[a-z0-9_]*\);$/-Wl,-u,\1/p' "$here/crease.map")
# shellcheck disable=SC2086
exec "${CC:-cc}" -shared -o "$output" -Wl,-soname,libcrease.so.0 -Wl,--version-script="$here/crease.map" \
  -Wl,--gc-sections -Wl,-z,defs -Wl,-z,noexecstack $wanted "$archive" "$@"
