"""Predicted training steps for programs: one JSON document. Units stand in the names."""

from collections.abc import Sequence
from typing import Any

from commbench.training.call import Call, Schedule
from commbench.training.predictions import StepPrediction, volume
from commbench.training.pricing import PricedStep, bus_bytes


def training_document(
    predictions: Sequence[StepPrediction], *, with_schedule: bool, gpu_memory: int | None
) -> dict[str, Any]:
    """`{"predictions": [...]}`; with schedules also `"schedule": [...]`, of the first prediction."""
    document: dict[str, Any] = {
        "predictions": [_prediction(each, with_schedule=with_schedule, gpu_memory=gpu_memory) for each in predictions]
    }
    if with_schedule and predictions:
        document["schedule"] = document["predictions"][0]["schedule"]
    return document


def _prediction(prediction: StepPrediction, *, with_schedule: bool, gpu_memory: int | None) -> dict[str, Any]:
    schedule, priced, kept, hidden = prediction.schedule, prediction.priced, prediction.memory, prediction.overlap
    found: dict[str, Any] = {
        "label": prediction.source,
        "strategy": schedule.strategy,
        "variant": schedule.variant,
        "framework": f"{schedule.framework} {schedule.version}",
        "source": schedule.source,
        "model": schedule.model,
        "world_size": schedule.world_size,
        "parameters": schedule.parameters,
        "calls": len(schedule.calls),
        "message_bytes": schedule.message_bytes,
        "bus_bytes": sum(bus_bytes(call) for call in schedule.calls),
        "volume_psi": volume(schedule),
        "seconds": priced.seconds if priced else None,
        "interval": priced.interval if priced else None,
        "latency_share": priced.latency_share if priced else None,
        "mode": priced.mode if priced else None,
        "extrapolated_calls": len(priced.extrapolated) if priced else None,
        "farthest_extrapolation": max((each.extrapolated for each in priced.calls), default=1.0) if priced else None,
        "stands_in": [{"what": words, "calls": calls} for words, calls in priced.stands_in.items()] if priced else [],
        "refused": str(prediction.refused) if prediction.refused else None,
        "compute_seconds": hidden.compute_seconds if hidden else None,
        "step_seconds": hidden.step_seconds if hidden else None,
        "exposed_seconds": hidden.exposed_seconds if hidden else None,
        "exposed_interval": hidden.exposed_interval if hidden else None,
        "scaling_efficiency": hidden.scaling_efficiency if hidden else None,
        "scaling_interval": hidden.scaling_interval if hidden else None,
        "break_even_bytes_per_second": hidden.break_even_bytes_per_second if hidden else None,
        "calls_priced_beside_compute": hidden.measured_beside_compute if hidden else None,
        "memory": {
            "parameters_bytes": kept.parameters,
            "gradients_bytes": kept.gradients,
            "optimizer_bytes": kept.optimizer,
            "buffers_bytes": kept.buffers,
            "total_bytes": kept.total,
        },
        "fits": None if gpu_memory is None else kept.total <= gpu_memory,
        "settings": dict(schedule.knobs),
        "assumptions": [*schedule.assumptions, *(priced.assumptions if priced else ())],
        "phases": _phases(schedule, priced),
    }
    if with_schedule:
        times = [each.seconds for each in priced.calls] if priced else [None] * len(schedule.calls)
        found["schedule"] = [_call(call, time) for call, time in zip(schedule.calls, times, strict=True)]
    return found


def _phases(schedule: Schedule, priced: PricedStep | None) -> list[dict[str, Any]]:
    if priced is not None:
        return [total._asdict() for total in priced.phases]
    totals: dict[tuple[str, str], dict[str, Any]] = {}
    for call in schedule.calls:
        total = totals.setdefault(
            (call.phase, call.collective),
            {"phase": call.phase, "collective": call.collective, "calls": 0, "message_bytes": 0, "seconds": None},
        )
        total["calls"] += 1
        total["message_bytes"] += call.message_bytes
    return list(totals.values())


def call_fields(call: Call) -> dict[str, Any]:
    """What every document says of a call of a schedule."""
    return {
        "phase": call.phase,
        "collective": call.collective,
        "op": call.op,
        "dtype": call.dtype,
        "elements": call.elements,
        "message_bytes": call.message_bytes,
        "group": call.group.name,
        "group_size": call.group.size,
    }


def _call(call: Call, seconds: float | None) -> dict[str, Any]:
    return call_fields(call) | {
        "group_stride": call.group.stride,
        "root": call.root,
        "micro_step": call.micro_step,
        "stream": call.stream,
        "carries": call.carries,
        "seconds": seconds,
    }
