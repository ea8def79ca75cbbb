#!/bin/sh
# check_model.sh INSTANCE good|deadlock: lets spin explore one instance of dsaam.pml and checks that it ends as expected.
set -eu
model=$(dirname "$(readlink -f "$0")")/dsaam.pml
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
cp "$model" .
spin -DINSTANCE="$1" -a dsaam.pml
gcc -O1 -w -DSAFETY -DMEMLIM=1024 -o pan pan.c
./pan -m200000 >out 2>&1 || true
grep -q '^State-vector' out || { cat out; exit 1; }
if grep -q 'max search depth too small\|out of memory' out; then cat out; exit 1; fi
found=good
grep -q '^pan:.*invalid end state' out && found=deadlock
grep -q '^pan:.*assertion violated' out && found=broken
states=$(sed -n 's/^ *\([0-9.e+]*\) states, stored.*/\1/p' out)
echo "instance $1: $found, $states states"
[ "$found" = "$2" ] || { cat out; exit 1; }
