#!/bin/bash
# Apptainer or Singularity: runs the words that follow inside an image, as one task. Launchers on the host put it before
# the program of each task; without one it starts a launcher inside.
#
#   export COMMBENCH_IMAGE=commbench.sif                                   # apptainer build commbench.sif docker-daemon:…
#   mpi/jobs/apptainer.sh torchrun --standalone --nproc-per-node 8 -m commbench.sweep -b 8 -e 8G -f 2 -J sweep.jsonl
#   COMMBENCH_INSIDE=$PWD/mpi/jobs/apptainer.sh sbatch mpi/jobs/slurm-torchrun.sbatch -b 8 -e 8G -f 2
#   COMMBENCH_INSIDE=$PWD/mpi/jobs/apptainer.sh sbatch mpi/jobs/slurm-srun.sbatch -b 8 -e 1G -f 2
#   mpirun -n 8 mpi/jobs/apptainer.sh python -m mpi4py -m mpi.sweep -b 8 -e 1G -f 2 -J mpi.jsonl
#
# The checkout and the folder for results are bound at the same paths as outside; the program starts in the latter.
# An MPI inside must be the launcher's: the same Open MPI, or for srun a PMIx that Slurm's can talk to.
#
# Change:
#   COMMBENCH_IMAGE=FILE         the image: Python 3.11+, torch or MPI and mpi4py, what pyproject.toml requires
#   COMMBENCH_CHECKOUT=FOLDER    the checkout, where this script lies elsewhere; empty: use the image's own commbench
#   COMMBENCH_RESULTS=FOLDER     default: the current folder
#   COMMBENCH_GPU=OPTION         default --nv, which only warns without an NVIDIA GPU; --rocm for AMD; empty: none
#   DRY_RUN=1                    print the line instead of running it
set -euo pipefail

: "${COMMBENCH_IMAGE:?is not set: name the image}"
checkout=${COMMBENCH_CHECKOUT-$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)}
results=${COMMBENCH_RESULTS:-$PWD}
if [[ -n $checkout && ! -d $checkout/commbench ]]; then
  echo "no commbench/ in $checkout: set COMMBENCH_CHECKOUT to the checkout, or empty to use the image's own" >&2
  exit 2
fi

program=apptainer
command -v apptainer > /dev/null || program=singularity

# The environment is inherited, but not under --cleanenv or --containall, which a site can make the default. What tells
# a rank who it is and how to communicate gets in with this prefix whatever the default. PATH and LD_LIBRARY_PATH are
# the image's.
for name in $(compgen -e); do
  case $name in
    PMI* | SLURM_* | OMPI_* | PRTE_* | OPAL_* | MPI_LOCAL* | MV2_* | RANK | WORLD_SIZE | LOCAL_* | MASTER_* | PET_* | \
      NCCL_* | TORCH* | GLOO_* | UCX_* | FI_* | CUDA_VISIBLE_DEVICES | OMP_NUM_THREADS)
      declare -x "${program^^}ENV_$name=${!name}"
      ;;
  esac
done

binds=(--bind "$results")
if [[ -n $checkout ]]; then
  declare -x "${program^^}ENV_PYTHONPATH=$checkout"
  [[ $checkout == "$results" ]] || binds+=(--bind "$checkout")
fi
# srun's PMIx server meets its ranks in this folder. Its shared-memory store may be of another version than the image's
# PMIx: the plain one works with all.
if [[ -d ${PMIX_SERVER_TMPDIR:-} ]]; then
  binds+=(--bind "$PMIX_SERVER_TMPDIR")
  declare -x "${program^^}ENV_PMIX_MCA_gds=${PMIX_MCA_gds:-hash}"
fi

gpu=${COMMBENCH_GPU---nv}
words=("$program" exec ${gpu:+"$gpu"} "${binds[@]}" --pwd "$results" "$COMMBENCH_IMAGE" "$@")

if [[ -n ${DRY_RUN:-} ]]; then
  printf '%q ' "${words[@]}"
  echo
  exit
fi
exec "${words[@]}"
