#!/usr/bin/env bash
# Runs the reference experiment in ns-3 and prints its figures, to compare with ours (docs/v2x.md has both).
# Needs libns3-dev (Debian 12: ns-3 3.37, 100 MB), which nothing else does: without it, this says so and stops.
#   v2x/test/ns3/compare.sh [SECONDS] [SEEDS]
set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
out=${ISOCHRON_NS3_OUT:-${TMPDIR:-/tmp}/isochron_ns3}
if [ ! -e /usr/include/ns3/wifi-module.h ]; then
  echo "ns-3 is not installed (apt-get install libns3-dev): nothing compared"
  exit 0
fi
mkdir -p "$out"
if [ ! -x "$out/road" ] || [ "$here/road.cc" -nt "$out/road" ]; then
  g++ -O2 -std=c++17 "$here/road.cc" -o "$out/road" -lns3-wifi -lns3-propagation -lns3-mobility -lns3-network -lns3-core
fi
for nodes in 30 100 200 300; do
  for seed in $(seq 1 "${2:-1}"); do "$out/road" "$nodes" "${1:-3}" "$seed" 20; done
done
