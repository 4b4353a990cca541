#!/bin/sh
# What `make demo` runs: the main job on two gloo ranks of this machine, small enough for a laptop, a fit and a figure of it.
#
#   sh benchmarks/demo.sh [BIN]     BIN: the environment's bin folder, seen from the repository root (.venv/bin)
#
# Leaves demo-results/sweep-<time>.jsonl and its figure (.png), never overwrites one, and passes the exit code on.
set -u
cd "$(dirname "$0")/.." || exit 2
bin=${1:-.venv/bin}
folder=demo-results
file=$folder/sweep-$(date +%Y%m%d-%H%M%S).jsonl

mkdir -p "$folder" || exit 2
# torchrun sets this itself where it is missing, and says so in five lines
OMP_NUM_THREADS=${OMP_NUM_THREADS:-1}
export OMP_NUM_THREADS

"$bin/torchrun" --standalone --nproc-per-node 2 -m commbench.sweep --backend gloo -b 8 -e 16M -f 4 --label demo -J "$file"
code=$?

echo
if [ "$code" -ne 0 ]; then
    echo "demo: the sweep ended with exit code $code; the lines above say why." >&2
    [ -e "$file" ] && echo "demo: what was finished is in $file" >&2
    exit "$code"
fi
echo "Latency and bandwidth fitted to it:"
echo
"$bin/commbench" fit "$file"
fit=$?
[ "$fit" -eq 0 ] || [ "$fit" -eq 3 ] || exit "$fit"   # 3: a curve has no model; its reason stands above
"$bin/python" -m plots.bandwidth "$file" --title "make demo: two gloo ranks of this machine" --output "${file%.jsonl}.png" \
    > /dev/null || exit
echo
echo "Gloo between two processes of one machine shows what commbench does; neither its times nor these fits are"
echo "evidence about a cluster."
echo "The sweep file: $file"
echo "Its figure:     ${file%.jsonl}.png"
echo "Next:           $bin/commbench show $file --format markdown     (or csv, json, nccl-tests)"
echo "                $bin/commbench predict $file --collective all_reduce --size 1G"
echo "                $bin/python -m plots.report $file --output report.html"
echo "With N GPUs:    $bin/torchrun --standalone --nproc-per-node N -m commbench.sweep -b 8 -e 8G -f 2 -J sweep.jsonl"
