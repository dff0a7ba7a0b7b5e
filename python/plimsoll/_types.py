"""Types of answers: dictionaries with these keys. Peaks are in bytes, and the times of a timeline are in seconds."""

from typing import Literal, TypedDict

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
    verdict: Literal["optimal", "above the optimum", "open", "invalid"]
    violations: list[str]


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
