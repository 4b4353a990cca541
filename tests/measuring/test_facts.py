"""Facts of a machine stood up in a folder, and the secrets that must never reach a sweep file."""

import base64
import json
import os
import random
import uuid
from pathlib import Path

import pytest

from commbench.measuring.facts import allowed_variables, available_memory_bytes, machine_facts

GIB = 1 << 30


def write(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


@pytest.fixture
def machine(tmp_path: Path) -> Path:
    cache = "sys/devices/system/cpu/cpu0/cache"
    return write(
        tmp_path,
        {
            "proc/cpuinfo": "processor\t: 0\nmodel name\t: Abacus 9000\n\nprocessor\t: 1\nmodel name\t: Other\n",
            "proc/meminfo": "MemTotal:       16777216 kB\nMemFree: 1 kB\nMemAvailable:    8388608 kB\n",
            "sys/devices/system/node/node0/x": "",
            "sys/devices/system/node/node1/x": "",
            f"{cache}/index0/level": "1\n",
            f"{cache}/index0/size": "48K\n",
            f"{cache}/index3/level": "3\n",
            f"{cache}/index3/size": "32M\n",
            f"{cache}/uevent": "",
        },
    )


def test_facts_of_a_machine(machine: Path) -> None:
    facts = machine_facts({"NCCL_DEBUG": "INFO", "HOME": "/root"}, machine)
    assert facts["cpu"] == "Abacus 9000"
    assert facts["memory_bytes"] == 16 * GIB
    assert facts["numa_nodes"] == 2
    assert facts["last_level_cache_bytes"] == 32 << 20
    assert facts["cgroup_memory_bytes"] is None
    assert facts["variables"] == {"NCCL_DEBUG": "INFO"}
    assert {"host", "kernel", "python"} <= facts.keys()
    assert available_memory_bytes(machine) == 8 * GIB


def test_an_empty_machine_tells_nothing_and_raises_nothing(tmp_path: Path) -> None:
    facts = machine_facts({}, tmp_path)
    for name in ("memory_bytes", "numa_nodes", "last_level_cache_bytes", "cgroup_memory_bytes"):
        assert facts[name] is None
    assert facts["cpu"]
    assert available_memory_bytes(tmp_path) is None


def test_facts_of_this_machine_are_strict_json() -> None:
    facts = machine_facts(os.environ)
    assert json.loads(json.dumps(facts, allow_nan=False)) == facts
    assert 1 <= facts["cores"] == len(os.sched_getaffinity(0))
    available = available_memory_bytes()
    assert available is not None
    assert 0 < available <= facts["memory_bytes"]


def test_cgroup_1_bounds_memory_and_gives_file_cache_back(machine: Path) -> None:
    folder = "sys/fs/cgroup/memory/jobs/7"
    write(
        machine,
        {
            "proc/self/cgroup": "9:name=systemd:/\n4:memory:/jobs/7\n2:cpu,cpuacct:/\n0::/\n",
            f"{folder}/memory.limit_in_bytes": f"{4 * GIB}\n",
            f"{folder}/memory.usage_in_bytes": f"{3 * GIB}\n",
            f"{folder}/memory.stat": f"inactive_file 5\ntotal_inactive_file {GIB}\n",
            "sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n",
            "sys/fs/cgroup/memory/memory.usage_in_bytes": "1\n",
        },
    )
    assert machine_facts({}, machine)["cgroup_memory_bytes"] == 4 * GIB
    assert available_memory_bytes(machine) == 2 * GIB


def test_cgroup_2_the_tightest_ancestor_counts(machine: Path) -> None:
    write(
        machine,
        {
            "proc/self/cgroup": "0::/slurm/job_9/step_0\n",
            "sys/fs/cgroup/slurm/job_9/step_0/memory.max": "max\n",
            "sys/fs/cgroup/slurm/job_9/step_0/memory.current": "5\n",
            "sys/fs/cgroup/slurm/job_9/memory.max": f"{2 * GIB}\n",
            "sys/fs/cgroup/slurm/job_9/memory.current": f"{GIB}\n",
            "sys/fs/cgroup/slurm/memory.max": f"{64 * GIB}\n",
            "sys/fs/cgroup/slurm/memory.current": f"{GIB}\n",
        },
    )
    assert machine_facts({}, machine)["cgroup_memory_bytes"] == 2 * GIB
    assert available_memory_bytes(machine) == GIB


@pytest.mark.parametrize("group", ["/docker/0123", "/../../outside"])
def test_a_container_sees_its_own_group_at_the_top(machine: Path, group: str) -> None:
    write(
        machine,
        {
            "proc/self/cgroup": f"0::{group}\n",
            "sys/fs/cgroup/memory.max": f"{GIB}\n",
            "sys/fs/cgroup/memory.current": f"{3 * GIB}\n",
        },
    )
    assert available_memory_bytes(machine) == 0


PLAIN = {
    "NCCL_DEBUG": "INFO",
    "NCCL_IB_HCA": "=mlx5_0:1,mlx5_1:1,mlx5_2:1,mlx5_3:1",
    "NCCL_IB_PKEY": "0x8001",
    "NCCL_ALGO": "allreduce:ring,tree;broadcast:ring",
    "NCCL_TOPO_FILE": "/opt/Vendor-Tools/nccl-2.28.9/share/topologies/ndv5-topo.xml",
    "NCCL_NET_PLUGIN": "/usr/lib/x86_64-linux-gnu/libnccl-net-ofi.so.1.2.3",
    "NCCL_HOSTID": "3c7a99e2d41b07f5",
    "TORCH_NCCL_ASYNC_ERROR_HANDLING": "1",
    "TORCH_SYMM_MEM_DISABLE_MULTICAST": "1",
    "CUDA_VISIBLE_DEVICES": "GPU-8932f937-d72c-4106-c12f-20bd9faed9f6,MIG-b1028956-cfa2-0990-bf4a-5da9abb51763",
    "UCX_TLS": "rc_x,sm,cuda_copy,gdr_copy,cuda_ipc",
    "UCX_TCP_KEEPINTVL": "20s",
    "UCX_NET_DEVICES": "mlx5_0:1,mlx5_bond_0:1,enp65s0f0np0",
    "OMPI_MCA_btl": "self,tcp",
    "OMPI_MCA_btl_tcp_if_include": "10.0.0.0/16,192.168.100.0/24",
    "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
    "I_MPI_PIN_DOMAIN": "[0xffffffffffffffffffff,0x0000000000000001]",
    "FI_PROVIDER": "efa;ofi_rxm",
    "GLOO_SOCKET_IFNAME": "eth0",
    "OMP_NUM_THREADS": "1",
    "TP_SOCKET_IFNAME": "eth0",
    "SLURM_JOB_ID": "4711",
    "SLURM_JOB_NODELIST": "gpu-a100-x8-[0001-0128,0130],ip-10-0-200-17",
    "SLURM_TASKS_PER_NODE": "8(x128),4",
}


def test_ordinary_variables_are_kept_word_for_word() -> None:
    assert allowed_variables(PLAIN) == PLAIN
    assert list(allowed_variables(PLAIN)) == sorted(PLAIN)


@pytest.mark.parametrize(
    "name",
    [
        *("SECRET_TOKEN", "NCCL_AUTH_TOKEN", "NCCL_SECRET", "UCX_PASSWORD", "FI_PASSWD", "OMPI_MCA_sec_credential"),
        *("GLOO_KEY", "GLOO_TLS_KEY_FILE", "NVSHMEM_API_KEYS", "MPICH_COOKIE", "OMPI_MCA_oauth", "I_MPI_PASS"),
        *("HOME", "USER", "PATH", "HF_TOKEN", "AWS_SECRET_ACCESS_KEY", "SLURM_JWT", "SLURM_JOB_NAME", "SLURM_JOB_USER"),
        *("SLURM_JOB_COMMENT", "SLURM_SUBMIT_DIR", "CUDA_HOME", "MASTER_ADDR", "nccl_debug", "MY_NCCL_DEBUG"),
    ],
)
def test_names_outside_the_list_or_of_secrets_are_left_out(name: str) -> None:
    assert allowed_variables({name: "planted", "NCCL_DEBUG": "INFO"}) == {"NCCL_DEBUG": "INFO"}


@pytest.mark.parametrize(
    "name", ["OMPI_MCA_orte_hnp_uri", "OMPI_MCA_ess_base_jobid", "OMPI_MCA_initial_wdir", "PRTE_MCA_x_server_uri"]
)
def test_what_mpirun_tells_its_ranks_is_no_setting(name: str) -> None:
    """Addresses, keys and folders of one launch, which would make any two sweeps differ."""
    assert allowed_variables({name: "1;tcp://10.0.0.1:1", "OMPI_MCA_btl": "sm"}) == {"OMPI_MCA_btl": "sm"}


@pytest.mark.parametrize(
    "value",
    [
        "http://someone:hunter2@proxy.example:8080/",
        "tcp://hunter2@10.0.0.1:5000",
        "ring,https://a:b@c",
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJl",
        "-----BEGIN PRIVATE KEY-----\nMIIB\n-----END PRIVATE KEY-----",
        "AKIAIOSFODNN7EXAMPLE",
        "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
        "ghp_0123456789abcdefghijABCDEFGHIJ012345",
        "Authorization: Bearer abcdefgh12345678",
        "host=a;password=hunter2",
        "https://host/path?access_token=hunter2",
        "9f86d081884c7d659a2feaa0c55ad015",
        "verbose,0x9f86d081884c7d659a2feaa0c55ad015",
        "9f86d081884c7d659a2fea-a0c55ad015a3bf4f1b2b",
    ],
)
def test_values_that_look_like_secrets_are_left_out(value: str) -> None:
    assert allowed_variables({"NCCL_NET_CONFIG": value, "UCX_TLS": "tcp"}) == {"UCX_TLS": "tcp"}


def test_random_keys_are_left_out_and_random_device_names_are_kept() -> None:
    chance = random.Random(20)
    kept = 0
    for _ in range(500):
        keys = (
            chance.randbytes(16).hex(),
            base64.b64encode(chance.randbytes(32)).decode(),
            base64.urlsafe_b64encode(chance.randbytes(32)).decode().rstrip("="),
            base64.b64encode(chance.randbytes(18)).decode(),
        )
        kept += sum(len(allowed_variables({"NCCL_NET_CONFIG": key})) for key in keys)
        device = f"GPU-{uuid.UUID(bytes=chance.randbytes(16))}"
        assert allowed_variables({"CUDA_VISIBLE_DEVICES": device}) == {"CUDA_VISIBLE_DEVICES": device}
    assert kept <= 500 * 4 * 0.02


def test_long_values_are_cut_after_the_look_for_secrets() -> None:
    assert allowed_variables({"NCCL_X": "ab," * 400})["NCCL_X"].endswith("(cut, 1200 characters)")
    assert len(allowed_variables({"NCCL_X": "ab," * 400})["NCCL_X"]) < 300
    assert allowed_variables({"NCCL_X": "ab," * 400 + "http://a:b@c"}) == {}


def test_values_that_are_no_utf_8_become_printable() -> None:
    value = allowed_variables({"NCCL_X": os.fsdecode(b"caf\xe9")})["NCCL_X"]
    assert value == "caf\N{REPLACEMENT CHARACTER}"
    json.dumps(value).encode()
