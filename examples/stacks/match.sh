#!/bin/bash
# Two chess engines play each other over pipes, a tenth of a second for each move. Nothing here knows of Isochron.
#   match.sh MOVES THREADS
moves=${1:-8} threads=${2:-1} position="position startpos moves"

coproc white { exec /usr/games/stockfish; }
exec 3<&"${white[0]}" 4>&"${white[1]}"
{ coproc black { exec /usr/games/stockfish; }; } 2>/dev/null  # bash warns that there are two
exec 5<&"${black[0]}" 6>&"${black[1]}"

read_until() { # descriptor, word; leaves the line that begins with it in $line, and the nodes searched in $nodes
  while read -r line <&"$1"; do
    case $line in
      *" nodes "*) nodes=${line##* nodes } nodes=${nodes%% *} ;;
      "$2"*) return ;;
    esac
  done
}
for out in 4 6; do
  printf 'uci\nsetoption name Threads value %s\nsetoption name Hash value 16\nisready\n' "$threads" >&"$out"
done
read_until 3 readyok
read_until 5 readyok

all=0
for ((i = 0; i < moves; i++)); do
  in=$((3 + i % 2 * 2))
  printf '%s\ngo movetime 100\n' "$position" >&$((in + 1))
  read_until "$in" bestmove
  move=${line#bestmove } move=${move%% *}
  position+=" $move"
  all=$((all + nodes))
done
echo "played$(echo "${position#position startpos moves}")"
echo "nodes $all"
printf 'quit\n' >&4
printf 'quit\n' >&6
wait
date -u +"ends at %H:%M:%S"
