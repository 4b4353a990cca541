# commbench on a cluster: a PyTorch image with CUDA, the checkout on PYTHONPATH, an unprivileged user.
#
#   docker build -t commbench .                                  # on the example base below
#   docker build -t commbench --build-arg BASE=IMAGE:TAG .       # on yours: Python 3.11+, torch 2.6+, CUDA
#
#   docker run --rm --gpus all --ipc=host --ulimit memlock=-1 -v "$PWD:/results" -w /results --user "$(id -u):$(id -g)" \
#       commbench torchrun --standalone --nproc-per-node 8 -m commbench.sweep -b 8 -e 8G -f 2 -J sweep.jsonl
#
# --ipc=host (or --shm-size=1g): NCCL's shared-memory transport needs more than a container's 64 MB. Over several hosts
# also --network=host, and the network's devices (for InfiniBand --device=/dev/infiniband).
#
# nccl-tests are not part of this image. Use a base that has them, or mount a build made for the base's NCCL:
#   -v /path/to/nccl-tests/build:/opt/nccl-tests:ro
# Its programs are then on PATH, and NCCL_TESTS_HOME names the folder.
ARG BASE=pytorch/pytorch:2.8.0-cuda12.8-cudnn9-runtime
FROM ${BASE}

ARG VERSION=0.1.0
ARG REVISION=unknown
LABEL org.opencontainers.image.title="commbench" \
      org.opencontainers.image.description="Measures collectives: every result checked, every number defined" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}"

WORKDIR /opt/commbench
COPY pyproject.toml ./

# The required packages of pyproject.toml, and nvidia-ml-py for the GPUs' state. torch only where the base has none: another
# build of it would bring another NCCL. PIP_BREAK_SYSTEM_PACKAGES: some bases mark their Python as the system's.
RUN python3 -c "import tomllib; print(*tomllib.load(open('pyproject.toml', 'rb'))['project']['dependencies'], sep='\n')" \
      > /tmp/requirements.txt \
 && echo "nvidia-ml-py>=12" >> /tmp/requirements.txt \
 && { python3 -c "import torch" 2> /dev/null || echo "torch>=2.6" >> /tmp/requirements.txt; } \
 && PIP_BREAK_SYSTEM_PACKAGES=1 python3 -m pip install --no-cache-dir --requirement /tmp/requirements.txt \
 && rm /tmp/requirements.txt

COPY . .
RUN printf '#!/bin/sh\nexec python3 -m commbench "$@"\n' > /usr/local/bin/commbench \
 && chmod 755 /usr/local/bin/commbench \
 && chmod -R a+rX /opt/commbench \
 && useradd --create-home commbench

ENV PYTHONPATH=/opt/commbench \
    PYTHONDONTWRITEBYTECODE=1 \
    NCCL_TESTS_HOME=/opt/nccl-tests
ENV PATH=${PATH}:${NCCL_TESTS_HOME}

USER commbench
WORKDIR /home/commbench

# Whatever the base starts by itself stays out of the way: the words after the image's name are the command.
ENTRYPOINT []
CMD ["bash"]
