#!/bin/bash
#PBS -N commbench
#PBS -l select=2:ncpus=64:mpiprocs=8:ngpus=8
#PBS -l place=scatter:excl
#PBS -l walltime=00:30:00
#PBS -j oe
#
# PBS Pro and OpenPBS with Open MPI's mpirun. Either MPI's ranks (the default), mpiprocs on each host; or torch's, with
# COMMBENCH_LAUNCH=torchrun: mpirun then starts one torchrun agent on each host, and each agent mpiprocs ranks.
# (mpirun, not pbsdsh, for both: pbsdsh gives its programs the login environment, not this one.)
#
#   qsub -v COMMBENCH_ARGUMENTS="-b 8 -e 1G -f 2 -T 25min" mpi/jobs/pbs.sh
#   qsub -v COMMBENCH_LAUNCH=torchrun,COMMBENCH_ARGUMENTS="-b 8 -e 8G -f 2" mpi/jobs/pbs.sh
#   qsub -I …, then bash mpi/jobs/pbs.sh -b 8 -e 1G -f 2
#
# qsub takes no arguments for a script, and -v ends a value at a comma: lists (-d float32,bfloat16) go into the line
# `set --` below. Quotes inside COMMBENCH_ARGUMENTS keep a word with spaces together. Submit from the checkout: mpi/ is
# not in the wheel. The sweep file, commbench-JOBID.jsonl, is written where you submit; PBS puts its own log there.
#
# Change: the #PBS lines (queue, project, GPUs, time), and the line below that makes mpirun and python found: a PBS job
# starts with the login environment (qsub -V brings yours).
#   COMMBENCH_RANKS=N            MPI ranks in all, where it is not mpiprocs on each host
#   COMMBENCH_MAP_BY=…           mpirun's --map-by: `:oversubscribe` for more ranks than cores or mpiprocs (Open MPI 5)
#   COMMBENCH_INSIDE=PROGRAM     put before each rank or agent, such as mpi/jobs/apptainer.sh
#   DRY_RUN=1                    print the line instead of running it
# MPICH and Intel MPI: `mpiexec -f "$PBS_NODEFILE" -n RANKS -genvlist NAME,… python -m mpi4py -m mpi.sweep …`.
set -euo pipefail

# module load openmpi; source "$PBS_O_WORKDIR/.venv/bin/activate"

: "${PBS_NODEFILE:?is not set: start this with qsub, or with bash inside qsub -I}"
cd "$PBS_O_WORKDIR"

if [[ $# == 0 && -n ${COMMBENCH_ARGUMENTS:-} ]]; then
  # xargs splits at blanks and understands quotes, and unlike eval it runs nothing.
  mapfile -t arguments < <(xargs -n 1 printf '%s\n' <<< "$COMMBENCH_ARGUMENTS")
  set -- "${arguments[@]}"
fi
# set -- -b 8 -e 1G -d float32,bfloat16

# The node file names each host mpiprocs times.
mapfile -t slots < "$PBS_NODEFILE"
mapfile -t hosts < <(sort -u "$PBS_NODEFILE")
job=${PBS_JOBID%%[!0-9]*} # "1234.server"

# A file of your own (-J, --resume) counts. This job's file exists only if PBS ran the job again: then it goes on.
file=(-J "commbench-$job.jsonl")
[[ -e ${file[1]} ]] && file[0]=--resume
for word in "$@"; do
  case $word in -J* | --output-file* | --resume*) file=() ;; esac
done

# mpirun takes only its own variables to other hosts. These go over as they are here, NCCL_DEBUG too if it is set.
exports=()
for name in $(compgen -e); do
  case $name in
    PATH | LD_LIBRARY_PATH | PYTHONPATH | VIRTUAL_ENV | OMP_NUM_THREADS) exports+=(-x "$name") ;;
    NCCL_* | TORCH_* | GLOO_* | UCX_* | FI_* | COMMBENCH_*) exports+=(-x "$name") ;;
  esac
done

case ${COMMBENCH_LAUNCH:-mpi} in
  mpi)
    words=(
      mpirun --hostfile "$PBS_NODEFILE" -n "${COMMBENCH_RANKS:-${#slots[@]}}"
      ${COMMBENCH_MAP_BY:+--map-by "$COMMBENCH_MAP_BY"} "${exports[@]}"
      ${COMMBENCH_INSIDE:+"$COMMBENCH_INSIDE"}
      python -m mpi4py -m mpi.sweep "${file[@]}" "$@"
    )
    ;;
  torchrun)
    if ((${#slots[@]} % ${#hosts[@]})); then
      echo "${#slots[@]} mpiprocs on ${#hosts[@]} hosts: torchrun needs the same number on each host" >&2
      exit 2
    fi
    # Two jobs on one host get two ports. Below 32768, where Linux begins to give ports away by itself.
    port=$((20000 + job % 10000))
    # --bind-to none: one agent stands for all ranks of a host; bound to one core, they would share it.
    words=(
      mpirun --hostfile "$PBS_NODEFILE" -n "${#hosts[@]}" --map-by ppr:1:node --bind-to none "${exports[@]}"
      ${COMMBENCH_INSIDE:+"$COMMBENCH_INSIDE"}
      torchrun --nnodes "${#hosts[@]}" --nproc-per-node $((${#slots[@]} / ${#hosts[@]}))
      --rdzv-backend c10d --rdzv-endpoint "${slots[0]}:$port" --rdzv-id "$job"
      -m commbench.sweep "${file[@]}" "$@"
    )
    ;;
  *)
    echo "COMMBENCH_LAUNCH is mpi or torchrun, found $COMMBENCH_LAUNCH" >&2
    exit 2
    ;;
esac

if [[ -n ${DRY_RUN:-} ]]; then
  printf '%q ' "${words[@]}"
  echo
  exit
fi
exec "${words[@]}"
