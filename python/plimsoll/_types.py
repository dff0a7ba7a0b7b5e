"""Types of answers: dictionaries with these keys. Peaks and bounds on them are in bytes, and times in seconds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypedDict

if TYPE_CHECKING:
    from ._core import Instance

Status = Literal["optimal", "feasible", "infeasible", "unknown"]
Boundary = Literal["arena", "held", "persistent", "outside"]
Termination = Literal["completed", "target", "time-limit", "node-limit", "interrupted"]


class Algorithm(TypedDict):
    name: str
    kind: Literal["heuristic", "exact"]
    about: str
    source: str
    parameters: dict[str, str]


class ComparedLayout(TypedDict):
    name: str
    peak: int
    gap_bytes: int
    gap: float | None
    verdict: Literal["optimal", "above the optimum", "open", "invalid", "too large"]
    violations: list[str]


class AuditedPlan(TypedDict):
    instance: Instance
    planner: str
    peak: int
    lower_bound: int
    gap_bytes: int
    gap: float | None
    verdict: Literal[
        "optimal", "above the optimum", "open", "invalid", "too large", "impossible", "below the floor"
    ]
    violations: list[str]


class Buffer(TypedDict):
    id: str
    lower: int
    upper: int
    size: int
    alignment: int
    offset: int | None
    gaps: list[tuple[int, int]]


class PlacedBuffer(TypedDict):
    id: str
    lower: int
    upper: int
    size: int
    offset: int | None


class Verification(TypedDict):
    valid: bool | None
    peak: int | None
    violations: list[str]
    certificate: Literal["confirmed", "rests-on-search", "refused"] | None
    reason: str | None


class Spill(TypedDict):
    spilled: list[str] | None
    offsets: list[int | None] | None
    traffic: int | None
    lower_bound: int
    witness: str
    status: Status
    termination: Termination


class Order(TypedDict):
    order: list[str]
    peak: int
    file_peak: int
    lower_bound: int
    status: Status
    termination: Termination


class Timeline(TypedDict):
    makespan: float
    lower_bound: float
    peak: int
    witness: str
    termination: Termination


class PlacedTensor(TypedDict):
    name: str
    memory: str
    offset: int
    size: int


class Tiers(TypedDict):
    transfer_time: float | None
    lower_bound: float
    tensors: list[PlacedTensor]
    witness: str
    status: Status
    termination: Termination


class Fusion(TypedDict):
    groups: list[list[str]]
    optimised: int
    upper_bound: int
    relations: int
    status: Literal["optimal", "feasible"]
    termination: Termination
