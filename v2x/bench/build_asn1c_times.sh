#!/usr/bin/env bash
# Generates asn1c's code for our module and builds the program that times it: build_asn1c_times.sh MODULE SOURCE OUT
set -euo pipefail
module=$1 source=$2 out=$3
folder=$(dirname "$out")/asn1c
rm -rf "$folder"
mkdir -p "$folder"
cd "$folder"
asn1c -gen-PER -fcompound-names "$module" >log 2>&1
rm -f converter-sample.c
printf '%s\n' ./*.c | xargs -P "$(nproc)" -n 16 cc -O2 -w -I. -c
cc -O2 -w -I. "$source" ./*.o -o "$out"
