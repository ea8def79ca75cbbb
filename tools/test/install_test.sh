#!/usr/bin/env bash
# Installs into a fresh folder and builds a user's project against it. Usage: install_test.sh BUILD_DIR SOURCE_DIR
set -euo pipefail
build=$1 source=$2
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
cmake --install "$build" --prefix "$tmp/prefix" >/dev/null
cmake -S "$source/tools/test/consumer" -B "$tmp/build" -G Ninja -DCMAKE_PREFIX_PATH="$tmp/prefix" \
  -DCMAKE_CXX_COMPILER_LAUNCHER=ccache -DROOM="$source/examples/room" >/dev/null
cmake --build "$tmp/build" >/dev/null
[ "$("$tmp/build/consumer")" = 3ms ]
"$tmp/prefix/bin/isochron" --version
# Nodes of the user's own: a library in C++, one in C, and a program, which make one run.
cd "$tmp/build"
for nodes in own_room.so own_heater.so own_heater_program; do "$tmp/prefix/bin/isochron" nodes "./$nodes" | grep -q Heater; done
sed 's#library: room_nodes, type: Heater#run: [./own_heater_program]#; s#room_nodes#./own_room.so#' \
  "$source/examples/room/room.yaml" >own.yaml
"$tmp/prefix/bin/isochron" run own.yaml --quiet | grep -q finished
