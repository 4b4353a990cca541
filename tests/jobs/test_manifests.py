"""The Kubernetes manifests against the models of the kubernetes and kubeflow packages.

A manifest is read into its model and written out again: a key that the model does not have is lost on the way, a value
of another type comes back changed, and a key that is missing is refused. What is not equal afterwards is named.
"""

import re
from collections.abc import Callable, Iterator
from copy import deepcopy
from typing import Any

import pytest

from commbench.measuring.command_line import parser
from tests.jobs.site import JOBS

yaml = pytest.importorskip("yaml", reason="PyYAML is not installed (the dev extra has it)")
training = pytest.importorskip("kubeflow.training", reason="kubeflow-training is not installed (the dev extra has it)")
trainer = pytest.importorskip(
    "kubeflow_trainer_api.models", reason="kubeflow-trainer-api is not installed (the dev extra has it)"
)

Manifest = dict[str, Any]

# MPIJob v2beta1 of mpi-operator (pkg/apis/kubeflow/v2beta1/types.go): the published package has v1 only. Slots,
# replicas and runPolicy are the same in both; these fields are new, and v1's others are gone.
V2BETA1: dict[str, tuple[str, ...] | type] = {
    "sshAuthMountPath": str,
    "runLauncherAsWorker": bool,
    "launcherCreationPolicy": ("AtStartup", "WaitForWorkersReady"),
    "mpiImplementation": ("OpenMPI", "Intel", "MPICH"),
}
V1_ONLY = ("cleanPodPolicy", "mainContainer")
JOB_FILES = ("kubernetes-mpijob.yaml", "kubernetes-pytorchjob.yaml", "kubernetes-trainjob.yaml")
IMAGE = "REPLACE-WITH-YOUR-IMAGE"


def manifests(name: str) -> list[Manifest]:
    """All documents of a file."""
    return list(yaml.safe_load_all((JOBS / name).read_text()))


def manifest(name: str) -> Manifest:
    """The only document of a file."""
    (document,) = manifests(name)
    return dict(document)


def there_and_back(document: Manifest) -> Manifest:
    """Through the model of its apiVersion and kind."""
    kind = (document["apiVersion"], document["kind"])
    if kind == ("trainer.kubeflow.org/v1alpha1", "TrainJob"):
        return dict(trainer.TrainerV1alpha1TrainJob.from_dict(document).to_dict())
    names = {
        ("kubeflow.org/v1", "PyTorchJob"): "KubeflowOrgV1PyTorchJob",
        ("kubeflow.org/v2beta1", "MPIJob"): "KubeflowOrgV1MPIJob",
        ("v1", "PersistentVolumeClaim"): "V1PersistentVolumeClaim",
        ("v1", "Pod"): "V1Pod",
    }
    client = training.ApiClient()
    # Its public `deserialize` wants an HTTP response around the document.
    return dict(client.sanitize_for_serialization(client._ApiClient__deserialize(document, names[kind])))


def problems(document: Manifest) -> list[str]:
    """Everything that the models do not have or would have otherwise, by path."""
    document = deepcopy(document)
    found = []
    if document["kind"] == "MPIJob":
        spec = document["spec"]
        found += [f"spec.{name}: v1 only" for name in V1_ONLY if name in spec]
        for name, allowed in V2BETA1.items():
            value = spec.pop(name, None)
            right = value in allowed if isinstance(allowed, tuple) else isinstance(value, allowed)
            if value is not None and not right:
                found.append(f"spec.{name}: {value!r}")
    try:
        return found + list(differences(document, there_and_back(document), ""))
    except ValueError as refused:  # pydantic's errors are among these
        return [*found, f"refused: {refused}"]


def differences(before: Any, after: Any, path: str) -> Iterator[str]:
    """Where two documents differ."""
    if isinstance(before, dict) and isinstance(after, dict):
        for name in before.keys() | after.keys():
            if name not in after:
                yield f"{path}{name}: unknown"
            elif name not in before:
                yield f"{path}{name}: made up"
            else:
                yield from differences(before[name], after[name], f"{path}{name}.")
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for place, (one, other) in enumerate(zip(before, after, strict=True)):
            yield from differences(one, other, f"{path}{place}.")
    elif type(before) is not type(after) or before != after:
        yield f"{path.rstrip('.')}: {before!r} became {after!r}"


@pytest.mark.parametrize("name", [*JOB_FILES, "kubernetes-results.yaml"])
def test_the_models_know_every_key(name: str) -> None:
    """And every value has the type of the API."""
    for document in manifests(name):
        assert problems(document) == []


def _replica(document: Manifest) -> Manifest:
    spec = document["spec"]
    replicas = spec.get("mpiReplicaSpecs") or spec.get("pytorchReplicaSpecs")
    return dict(replicas)["Worker"]  # type: ignore[no-any-return]


def _container(document: Manifest) -> Manifest:
    return _replica(document)["template"]["spec"]["containers"][0]  # type: ignore[no-any-return]


def _trainer_patch(document: Manifest) -> Manifest:
    jobs = document["spec"]["runtimePatches"][0]["trainingRuntimeSpec"]["template"]["spec"]["replicatedJobs"]
    return jobs[0]["template"]["spec"]["template"]["spec"]  # type: ignore[no-any-return]


MPIJOB, PYTORCHJOB, TRAINJOB = JOB_FILES
BREAK: list[tuple[str, Callable[[Manifest], object], str]] = [
    (MPIJOB, lambda job: job["spec"].update(slotPerWorker=8), "spec.slotPerWorker: unknown"),
    (MPIJOB, lambda job: job["spec"].update(cleanPodPolicy="Running"), "spec.cleanPodPolicy: v1 only"),
    (MPIJOB, lambda job: job["spec"].update(launcherCreationPolicy="Later"), "spec.launcherCreationPolicy: 'Later'"),
    (MPIJOB, lambda job: job["spec"].pop("mpiReplicaSpecs"), "must not be `None`"),
    (MPIJOB, lambda job: _replica(job).update(restartpolicy="Never"), "Worker.restartpolicy: unknown"),
    (MPIJOB, lambda job: _container(job).update(env=[{"nam": "NCCL_DEBUG"}]), "refused"),
    (PYTORCHJOB, lambda job: _container(job).pop("name"), "must not be `None`"),
    (PYTORCHJOB, lambda job: _container(job)["args"].append(8), "8 became '8'"),
    (PYTORCHJOB, lambda job: _container(job)["resources"].update(limit={}), "resources.limit: unknown"),
    (PYTORCHJOB, lambda job: _replica(job)["template"]["spec"]["volumes"][0]["emptyDir"].update(size="1Gi"),
     "emptyDir.size: unknown"),
    (TRAINJOB, lambda job: job["spec"].update(runtimeRefs={}), "spec.runtimeRefs: unknown"),
    (TRAINJOB, lambda job: job["spec"].pop("runtimeRef"), "refused"),
    (TRAINJOB, lambda job: job["spec"]["trainer"].update(numNodes="2"), "refused"),
    (TRAINJOB, lambda job: _trainer_patch(job).update(restartPolicy="Never"), "restartPolicy: unknown"),
    (TRAINJOB, lambda job: _trainer_patch(job)["volumes"][1].update(pvc={}), "volumes.1.pvc: unknown"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "spoil", "said"), BREAK, ids=[f"{name}: {said}" for name, _, said in BREAK])
def test_a_broken_key_is_seen(name: str, spoil: Callable[[Manifest], object], said: str) -> None:
    """The test above can fail: each of these was a manifest that a cluster refuses, or worse, takes."""
    document = manifest(name)
    spoil(document)
    assert any(said in problem for problem in problems(document)), problems(document)


def pods(document: Manifest) -> dict[str, Manifest]:
    """The pod specs of a job, by replica; of a TrainJob, its trainer with what is patched into the runtime's pods."""
    spec = document["spec"]
    if document["kind"] == "TrainJob":
        patch, ours = _trainer_patch(document), spec["trainer"]
        node = {**patch["containers"][0], **ours, "resources": ours["resourcesPerNode"]}
        return {"node": {**patch, "containers": [node]}}
    replicas = spec.get("mpiReplicaSpecs") or spec["pytorchReplicaSpecs"]
    return {name: replica["template"]["spec"] for name, replica in replicas.items()}


def sweep_line(document: Manifest) -> list[str]:
    """The words of the container that starts the sweep."""
    lines = [
        [*pod["containers"][0].get("command", []), *pod["containers"][0].get("args", [])]
        for pod in pods(document).values()
    ]
    return next(line for line in lines if line[0] in ("torchrun", "mpirun"))


@pytest.mark.parametrize("name", JOB_FILES)
def test_pods_that_measure(name: str) -> None:
    """GPUs as limits and requests, /dev/shm in memory, the results on the claim, all images to be replaced."""
    for role, pod in pods(manifest(name)).items():
        (container,) = pod["containers"]
        assert container["image"] == IMAGE
        assert {"requests", "limits"} <= set(container["resources"])
        if role == "Launcher":  # it starts the ranks and has none
            continue
        gpus = {container["resources"][kind]["nvidia.com/gpu"] for kind in ("requests", "limits")}
        assert len(gpus) == 1
        mounts = {mount["mountPath"]: mount["name"] for mount in container["volumeMounts"]}
        volumes = {volume["name"]: volume for volume in pod["volumes"]}
        assert volumes[mounts["/dev/shm"]]["emptyDir"]["medium"] == "Memory"
        claim = volumes[mounts["/results"]]["persistentVolumeClaim"]["claimName"]
        assert claim == next(iter(manifests("kubernetes-results.yaml")))["metadata"]["name"]


@pytest.mark.parametrize("name", JOB_FILES[:2])
def test_nothing_starts_again_by_itself(name: str) -> None:
    """A second start would find the file of the first; finished launchers stay, for their logs."""
    spec = manifest(name)["spec"]
    replicas = spec.get("mpiReplicaSpecs") or spec["pytorchReplicaSpecs"]
    assert {replica["restartPolicy"] for replica in replicas.values()} == {"Never"}
    assert spec["runPolicy"]["cleanPodPolicy"] == "Running"
    assert spec["runPolicy"]["backoffLimit"] == 0


def test_a_trainjob_says_that_its_runtime_decides() -> None:
    """restartPolicy is not among what a TrainJob may patch."""
    assert "restartPolicy to Never there" in (JOBS / TRAINJOB).read_text()


@pytest.mark.parametrize("name", JOB_FILES)
def test_the_sweep_understands_its_options(name: str) -> None:
    """The file is on the claim, and the time limit lies below the job's."""
    document = manifest(name)
    line = sweep_line(document)
    program = next(word for word in line if word in ("commbench.sweep", "mpi.sweep"))
    options = parser(program).parse_args(line[line.index(program) + 1 :])
    assert options.output_file.startswith("/results/")
    deadline = document["spec"].get("activeDeadlineSeconds") or document["spec"]["runPolicy"]["activeDeadlineSeconds"]
    minutes = re.fullmatch(r"(\d+)min", line[line.index("-T") + 1])
    assert minutes is not None
    assert int(minutes[1]) * 60 < deadline


def test_numbers_of_the_mpijob_agree() -> None:
    """-n is the slots of all workers, a slot is a GPU; and Open MPI 5 is told the hostfile."""
    document = manifest(MPIJOB)
    line, spec = sweep_line(document), document["spec"]
    ranks = int(line[line.index("-n") + 1])
    assert ranks == spec["slotsPerWorker"] * spec["mpiReplicaSpecs"]["Worker"]["replicas"]
    assert _container(document)["resources"]["limits"]["nvidia.com/gpu"] == str(spec["slotsPerWorker"])
    assert line[line.index("--hostfile") + 1] == "/etc/mpi/hostfile"
    assert line[line.index("mpi.sweep") - 4 : line.index("mpi.sweep")] == ["python", "-m", "mpi4py", "-m"]


def test_numbers_of_the_pytorchjob_agree() -> None:
    """Both kinds of pods run one line; torchrun's nodes are all of them."""
    document = manifest(PYTORCHJOB)
    replicas = document["spec"]["pytorchReplicaSpecs"]
    assert replicas["Master"]["template"] == replicas["Worker"]["template"]
    options = dict(word.split("=", 1) for word in sweep_line(document) if word.startswith("--"))
    assert int(options["--nnodes"]) == sum(replica["replicas"] for replica in replicas.values())
    assert options["--nproc-per-node"] == _container(document)["resources"]["limits"]["nvidia.com/gpu"]
    assert _container(document)["name"] == "pytorch"


def test_numbers_of_the_trainjob_agree() -> None:
    """The runtime makes torchrun's options of them."""
    ours = manifest(TRAINJOB)["spec"]["trainer"]
    assert ours["resourcesPerNode"]["limits"]["nvidia.com/gpu"] == str(ours["numProcPerNode"])
