"""Tests the planner with stand-ins for the types of ExecuTorch, so ExecuTorch is not needed."""

import random
from dataclasses import dataclass, field

import pytest
from plimsoll.executorch import planner


@dataclass(eq=False)
class Spec:
    lifetime: list
    allocated_memory: int
    mem_id: int | None = None
    storage_base: "Spec | None" = None
    storage_base_offset: int = 0


@dataclass
class Place:
    mem_id: int
    mem_obj_id: int = 0
    mem_offset: int = 0


@dataclass
class Result:
    spec_dict: dict
    bufsizes: list


@dataclass
class Graph:
    input_mem_buffer_sizes: list = field(default_factory=list)


def base_of(spec):
    return spec if spec.storage_base is None else base_of(spec.storage_base)


def end_to_end(alignment, specs, graph, signature, padding):
    """Places tensors end to end, without sharing."""
    places = {spec: Place(base_of(spec).mem_id or 1) for spec in specs}
    floors = graph.input_mem_buffer_sizes
    sizes = [0] * (1 + max([1, *(place.mem_id for place in places.values())]))
    for at in range(1, len(sizes)):
        sizes[at] = floors[at] if at < len(floors) else 0
    for spec, place in places.items():
        if spec.storage_base is None:
            place.mem_offset = sizes[place.mem_id]
            sizes[place.mem_id] += spec.allocated_memory
    for spec, place in places.items():
        inside, own = 0, spec
        while own.storage_base is not None:
            inside, own = inside + own.storage_base_offset, own.storage_base
        if own is not spec:
            place.mem_offset = inside + (places[own].mem_offset if own in places else 0)
    return Result(places, [size + padding if at and size else size for at, size in enumerate(sizes)])


def check(specs, result, floors=(), padding=0, alignment=16):
    for spec in specs:
        place = result.spec_dict[spec]
        floor = floors[place.mem_id] if place.mem_id < len(floors) else 0
        assert place.mem_offset % alignment == 0 or spec.storage_base is not None
        assert place.mem_offset >= floor
        assert place.mem_offset + spec.allocated_memory + padding <= result.bufsizes[place.mem_id]
        for other in specs:
            their = result.spec_dict[other]
            if other is spec or their.mem_id != place.mem_id or base_of(spec) is base_of(other):
                continue
            apart = (
                place.mem_offset + spec.allocated_memory <= their.mem_offset
                or their.mem_offset + other.allocated_memory <= place.mem_offset
            )
            live = spec.lifetime[0] <= other.lifetime[1] and other.lifetime[0] <= spec.lifetime[1]
            assert apart or not live
            assert apart or place.mem_obj_id == their.mem_obj_id


def test_an_optimal_plan():
    specs = [Spec([0, 1], 64), Spec([1, 3], 32), Spec([2, 4], 64), Spec([3, 4], 0)]
    own = planner(fallback=end_to_end)
    result = own(16, specs, Graph(), None, 0)
    check(specs, result)
    assert result.bufsizes == [0, 96] and own.report.fallback is None and own.report.is_optimal
    (memory,) = own.report.memories
    assert (memory.peak, memory.load, memory.fallback_size) == (96, 96, 160)
    assert '"claim": "optimal"' in memory.certificate()


def test_lifetimes_are_inclusive():
    specs = [Spec([0, 1], 16), Spec([1, 2], 16)]
    assert planner(fallback=end_to_end)(16, specs, Graph(), None, 0).bufsizes == [0, 32]


def test_floors_padding_memories_and_views():
    base = Spec([0, 1], 64, mem_id=2)
    view = Spec([2, 3], 32, storage_base=base, storage_base_offset=32)
    inner = Spec([4, 5], 16, storage_base=view, storage_base_offset=16)
    specs = [base, view, inner, Spec([5, 6], 64, mem_id=2), Spec([6, 7], 48, mem_id=2), Spec([0, 9], 16)]
    own = planner(fallback=end_to_end)
    result = own(16, specs, Graph([0, 0, 128]), None, 64)
    check(specs, result, [0, 0, 128], 64)
    assert result.bufsizes == [0, 16 + 64, 128 + 128 + 64]
    assert result.spec_dict[inner].mem_offset == result.spec_dict[base].mem_offset + 48
    assert [memory.reserved for memory in own.report.memories] == [0, 128]


@pytest.mark.parametrize(
    ("specs", "why"),
    [
        ([Spec([None, None], 16)], "no lifetime"),
        ([Spec([0, 1], 16), Spec([0, 1], 16, storage_base=Spec([0, 1], 16))], "not planned here"),
    ],
)
def test_unsupported_graphs_get_the_plan_of_the_fallback(specs, why):
    own = planner(fallback=end_to_end)
    with pytest.warns(UserWarning, match=why):
        result = own(16, specs, Graph(), None, 0)
    assert why in own.report.fallback and not own.report.is_optimal
    assert own.report.size == own.report.fallback_size == sum(result.bufsizes)


def test_never_above_the_fallback():
    def clairvoyant(alignment, specs, graph, signature, padding):
        return Result({spec: Place(1) for spec in specs}, [0, 16])

    specs = [Spec([0, 1], 16), Spec([1, 2], 16)]
    own = planner(fallback=clairvoyant)
    assert own(16, specs, Graph(), None, 0).bufsizes == [0, 16]
    assert "only larger plans" in own.report.fallback


def test_random_graphs():
    source = random.Random(7)
    for _ in range(60):
        specs = []
        for _ in range(source.randint(1, 12)):
            start = source.randint(0, 8)
            lifetime = [start, start + source.randint(0, 4)]
            size = 16 * source.randint(0, 6)
            bases = [one for one in specs if one.allocated_memory >= size]
            if bases and source.random() < 0.3:
                base = source.choice(bases)
                inside = 16 * source.randint(0, (base.allocated_memory - size) // 16)
                specs.append(Spec(lifetime, size, storage_base=base, storage_base_offset=inside))
            else:
                specs.append(Spec(lifetime, size, mem_id=source.choice([None, 1, 2])))
        source.shuffle(specs)
        floors = [0, 16 * source.randint(0, 3)]
        own = planner(fallback=end_to_end)
        result = own(16, specs, Graph(floors), None, 0)
        check(specs, result, floors)
        assert own.report.is_optimal and own.report.size <= own.report.fallback_size


def test_unknown_fallback():
    pytest.importorskip("executorch")
    with pytest.raises(ValueError, match="'best'"):
        planner(fallback="best")
