#!/usr/bin/env bash
# Everything that commbench says about two or more GPUs of one host, measured on them: about eight minutes.
#
#   NCCL_TESTS_HOME=/path/to/nccl-tests bash benchmarks/multi_gpu.sh RESULTS [STEP ...]
#
# Steps, all of them by default, each safe to repeat (what is finished in RESULTS is not measured again):
#   interconnects  NVLink, host memory and network: commbench.sweep in fresh processes, proved and compared
#   nccl-tests     the same settings and sizes through commbench nccl-tests, and both in one table
#   mpi            mpi.sweep --backend nccl under mpirun beside torchrun; device buffers where MPI takes them
#   models         fits, and their error on sizes held out
#   training       a 7B model priced on both interconnects; a 1B one replayed, and real DDP and FSDP2 steps
#   acceptance     limits for this machine: NVLink passes, host memory fails; with four GPUs or more also pairs
#
# NCCL_TESTS_HOME: nccl-tests built with MPI against the mpirun on PATH. Needs the packages of commbench[torch,mpi,gpu].
# Settings start from the inherited variables: NVLink multicast stays off where NCCL_NVLS_ENABLE=0 says so.
# Every step leaves STEP*.txt in RESULTS. Exit code: the number of commands that did not end as wanted.
set -u
cd "$(dirname "$0")/.." || exit 99
results=${1:?RESULTS, a folder for the sweep files and tables}
shift
steps=("$@")
[ "${#steps[@]}" -gt 0 ] || steps=(interconnects nccl-tests mpi models training acceptance)
python=${PYTHON:-python3}
gpus=${GPUS:-$(nvidia-smi -L | wc -l)}
collectives=(all_reduce reduce reduce_scatter all_gather)
commbench=("$python" -m commbench)
torchrun=("$python" -m torch.distributed.run --standalone --nproc-per-node "$gpus")
mpirun=(mpirun -n "$gpus" --map-by :oversubscribe)
export OMP_NUM_THREADS=1 PYTHONPATH=${PYTHONPATH:-}:$PWD
failed=0
mkdir -p "$results"

wanted() { # wanted NAME CODES COMMAND...: run it, keep what it prints, count an exit code that is not among CODES
    local name=$1 codes=$2 begun=$SECONDS
    shift 2
    timeout -k 10 "${LIMIT:-240}" "$@" > "$results/$name.txt" 2> "$results/$name.err"
    local code=$?
    echo "$name: exit code $code (wanted $codes), $((SECONDS - begun)) s"
    [[ " $codes " == *" $code "* ]] && return
    failed=$((failed + 1))
    tail -5 "$results/$name.err"
}

measure() { # measure NAME SETTINGS LAUNCHES ARGUMENTS...: the sweep under each setting
    local name=$1 settings=$2 launches=$3
    shift 3
    wanted "interconnects-$name" "0" "${commbench[@]}" interconnects --launch "${torchrun[*]}" --settings "$settings" \
        --launches "$launches" -J "$results/$name" -- "${collectives[@]}" "$@"
}

interconnects() {
    # 20 samples a point keep the files small enough to be looked at, and 4 GiB through host memory takes 0.16 s a call.
    LIMIT=330 measure small nvlink,host,network 2 -b 8 -e 64M -f 2 -n 20 --mode isolated,pipelined,graph -T 90
    measure large nvlink,host 1 -b 128M -e 4G -f 2 -n 8 --mode isolated,pipelined -T 90
}

nccl_tests() {
    wanted nccl-tests "0 3" "${commbench[@]}" interconnects --launch "${mpirun[*]}" --program nccl-tests \
        --settings nvlink,host --launches 1 -J "$results/nccl-tests" -- "${collectives[@]}" -b 8 -e 1G -f 2 -n 20 -w 5
    wanted nccl-tests-large "0" "${commbench[@]}" nccl-tests "${collectives[@]}" --launch "${mpirun[*]}" --label nvlink \
        -b 2G -e 4G -f 2 -n 20 -w 5 -J "$results/nccl-tests-large.jsonl"
    wanted nccl-tests-graph "0" "${commbench[@]}" nccl-tests "${collectives[@]}" --launch "${mpirun[*]}" --label nvlink \
        -b 1K -e 1K -n 20 -G 5 -J "$results/nccl-tests-graph.jsonl"
    for theirs in nccl-tests/nvlink/1 nccl-tests/host/1 nccl-tests-large nccl-tests-graph; do
        local setting=nvlink
        [[ $theirs == */host/* ]] && setting=host
        cat "$results"/{small,large}/"$setting"/*.jsonl > "$results/.ours.jsonl"
        wanted "beside-${theirs//\//-}" "0" "$python" -m benchmarks.against_nccl_tests \
            --sweeps "$results/.ours.jsonl" "$results/$theirs.jsonl"
    done
    rm -f "$results/.ours.jsonl"
}

mpi() {
    local sizes=(-b 8 -e 1G -f 8 -n 40 --mode isolated,pipelined)
    wanted mpi-torchrun "0" "${torchrun[@]}" -m commbench.sweep "${sizes[@]}" --label torchrun -J "$results/mpi-torchrun.jsonl"
    wanted mpi-mpirun "0" "${mpirun[@]}" "$python" -m mpi4py -m mpi.sweep --backend nccl "${sizes[@]}" --label mpirun \
        -J "$results/mpi-mpirun.jsonl"
    wanted mpi-compared "0" "${commbench[@]}" compare "$results/mpi-torchrun.jsonl" "$results/mpi-mpirun.jsonl"
    # 2: this MPI does not take buffers in GPU memory, and says so
    wanted mpi-device-buffers "0 2" "${mpirun[@]}" "$python" -m mpi4py -m mpi.sweep --device-buffers -b 8 -e 16M -f 16 -n 20 \
        --label device-buffers -J "$results/mpi-device-buffers.jsonl"
}

models() {
    wanted fit "0 3" "${commbench[@]}" fit "$results"/{small,large}/*/*.jsonl --reference
    wanted predict "0 3" "${commbench[@]}" predict "$results"/{small,large}/{nvlink,host}/*.jsonl --mode pipelined \
        --size 1K --size 3M --size 1G --size 16G
    wanted model-error "0 1" "$python" -m benchmarks.model_error --draws 20 --data "$results"/{small,large}/{nvlink,host}/*.jsonl
}

training() {
    wanted training "0" "${commbench[@]}" training "$results"/{small,large}/{nvlink,host}/*.jsonl --model llama2-7b \
        --strategy dp,zero2,zero3 --mode pipelined --gpu-memory 141GB
    for strategy in dp zero2 zero3 fsdp; do
        wanted "replay-$strategy" "0" "${torchrun[@]}" -m commbench.replay --parameters 1e9 --layers 16 --strategy "$strategy"
    done
    wanted framework-steps "0" "$python" -m benchmarks.framework_steps --ranks "$gpus" --parameters 1e9 --layers 16
}

acceptance() {
    local limits=examples/two-h200.limits.toml
    wanted accept-nvlink "0" "${commbench[@]}" accept "$limits" "$results"/{small,large}/nvlink/*.jsonl
    wanted accept-host "1" "${commbench[@]}" accept "$limits" "$results"/{small,large}/host/*.jsonl
    [ "$gpus" -lt 4 ] || wanted pairs "0" "${torchrun[@]}" -m commbench.pairs -J "$results/pairs.jsonl"
}

nvidia-smi topo -m > "$results/topology.txt" 2>&1
for step in "${steps[@]}"; do
    case $step in
        interconnects | mpi | models | training | acceptance) $step ;;
        nccl-tests) nccl_tests ;;
        *) echo "no step is called $step" >&2; exit 99 ;;
    esac
done
echo "commands that did not end as wanted: $failed"
exit "$failed"
