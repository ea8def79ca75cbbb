#!/bin/bash
# Nothing here knows of Isochron.
date -u +"begins at %H:%M:%S on $(hostname)"
(sleep 20; echo "twenty seconds later: $(date -u +%H:%M:%S)") &
timeout 30 sleep 3600
echo "sleep was ended with $? at $(date -u +%H:%M:%S)"
seq 1 1000 | awk '{ sum += $1 } END { print "sum", sum }'
wait
date -u +"ends at %H:%M:%S"
