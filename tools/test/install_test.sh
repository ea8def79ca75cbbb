#!/usr/bin/env bash
# Installs into a fresh folder and builds a user's project against it. Usage: install_test.sh BUILD_DIR SOURCE_DIR
set -euo pipefail
build=$1 source=$2
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
cmake --install "$build" --prefix "$tmp/prefix" >/dev/null
cmake -S "$source/tools/test/consumer" -B "$tmp/build" -G Ninja -DCMAKE_PREFIX_PATH="$tmp/prefix" \
  -DCMAKE_CXX_COMPILER_LAUNCHER=ccache >/dev/null
cmake --build "$tmp/build" >/dev/null
[ "$("$tmp/build/consumer")" = 3ms ]
"$tmp/prefix/bin/isochron" --version
