"""Tests the planner inside ExecuTorch, from the export to the runtime."""

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("executorch")

from executorch.exir import ExecutorchBackendConfig, to_edge  # noqa: E402
from executorch.runtime import Runtime  # noqa: E402
from plimsoll.executorch import memory_planning_pass, planner  # noqa: E402
from torch.export import export  # noqa: E402


class Branching(torch.nn.Module):
    """Several tensors are live at once, and their sizes differ."""

    def __init__(self):
        super().__init__()
        self.wide = torch.nn.Linear(16, 200)
        self.narrow = torch.nn.Linear(200, 16)
        self.other = torch.nn.Linear(16, 50)
        self.last = torch.nn.Linear(50, 16)

    def forward(self, x):
        a = self.narrow(torch.relu(self.wide(x)))
        b = self.last(torch.tanh(self.other(x)))
        return torch.cat([a + b, a * b], dim=1), a


def lowered(network, example, own=None, **options):
    exported = export(network.eval(), example)
    if own is None and not options:
        return to_edge(exported).to_executorch()
    config = ExecutorchBackendConfig(memory_planning_pass=memory_planning_pass(algorithm=own, **options))
    return to_edge(exported).to_executorch(config)


def run(program, example):
    method = Runtime.get().load_program(program.buffer).load_method("forward")
    return [output.clone() for output in method.execute(list(example))]


def sizes(program):
    (plan,) = program.executorch_program.execution_plan
    return list(plan.non_const_buffer_sizes)


def test_outputs_are_equal():
    torch.manual_seed(1)
    network, example = Branching(), (torch.randn(4, 16),)
    own = planner()
    ours, greedy = lowered(network, example, own), lowered(network, example)
    assert own.report.fallback is None and own.report.is_optimal
    assert sum(sizes(ours)) == own.report.size <= own.report.fallback_size == sum(sizes(greedy))
    for _ in range(5):
        values = (torch.randn(4, 16),)
        for a, b in zip(run(ours, values), run(greedy, values), strict=True):
            assert torch.equal(a, b)


@pytest.mark.parametrize("options", [{"alloc_graph_input": False}, {"alloc_graph_output": False}, {"alignment": 64}])
def test_options_of_the_pass(options):
    torch.manual_seed(2)
    network, example = Branching(), (torch.randn(4, 16),)
    own = planner()
    ours = lowered(network, example, own, **options)
    assert own.report.is_optimal and own.report.size <= own.report.fallback_size
    if "alloc_graph_output" not in options:
        expected = network(*example)
        for a, b in zip(run(ours, example), expected, strict=True):
            assert torch.allclose(a, b, atol=1e-5)


def test_mutable_buffers():
    class Counter(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("count", torch.zeros(4))

        def forward(self, x):
            self.count.add_(x)
            return torch.relu(self.count) * 2

    own = planner()
    program = lowered(Counter(), (torch.ones(4),), own)
    method = Runtime.get().load_program(program.buffer).load_method("forward")
    assert [method.execute([torch.ones(4)])[0].clone()[0].item() for _ in range(3)] == [2, 4, 6]
    assert own.report.is_optimal


def test_dynamic_shapes():
    network, example = Branching(), (torch.randn(4, 16),)
    exported = export(network.eval(), example, dynamic_shapes=({0: torch.export.Dim("n", min=2, max=8)},))
    own = planner()
    config = ExecutorchBackendConfig(memory_planning_pass=memory_planning_pass(algorithm=own))
    program = to_edge(exported).to_executorch(config)
    for rows in (2, 5, 8):
        value = (torch.randn(rows, 16),)
        for a, b in zip(run(program, value), network(*value), strict=True):
            assert torch.allclose(a, b, atol=1e-5)
    assert own.report.is_optimal


class Calls(torch.nn.Module):
    """The result of the first call is used after the second one, and through a view."""

    def forward(self, x, p, q):
        y = x * 2
        a = torch.cond(p, lambda y: torch.relu(y) + 1, lambda y: torch.tanh(y) * 2, (y,))
        b = torch.cond(q, lambda y: torch.exp(y), lambda y: y - 1, (y,))
        return (a + b).view(-1) + a.view(-1)


@pytest.mark.parametrize("time_limit", [10.0, 0.0])
def test_branches(time_limit):
    """All outcomes are correct, even if there is no time for a search and no bytes are shared."""
    network, choices = Calls().eval(), (True, False)
    own = planner(time_limit=time_limit)
    program = lowered(network, (torch.randn(8, 8), torch.tensor(True), torch.tensor(True)), own)
    assert sum(sizes(program)) == own.report.size
    method = Runtime.get().load_program(program.buffer).load_method("forward")
    for p in choices * 2:
        for q in choices:
            values = [torch.randn(8, 8), torch.tensor(p), torch.tensor(q)]
            assert torch.allclose(method.execute(values)[0], network(*values))


def test_a_plan_without_sharing_is_right(monkeypatch):
    import plimsoll.executorch

    def fail(*_arguments, **_options):
        raise plimsoll.executorch.Unsupported("on request")

    monkeypatch.setattr(plimsoll.executorch, "place", fail)
    network, own = Calls().eval(), planner()
    with pytest.warns(UserWarning, match="share no bytes: on request"):
        program = lowered(network, (torch.randn(8, 8), torch.tensor(True), torch.tensor(True)), own)
    assert own.report.fallback == "on request" and not own.report.is_optimal
    method = Runtime.get().load_program(program.buffer).load_method("forward")
    for p, q in ((True, True), (True, False), (False, True), (False, False)):
        values = [torch.randn(8, 8), torch.tensor(p), torch.tensor(q)]
        assert torch.allclose(method.execute(values)[0], network(*values))


def test_a_scan():
    from torch._higher_order_ops.scan import scan

    class Sums(torch.nn.Module):
        def forward(self, x):
            def combine(carry, one):
                total = carry + one
                return total, total * 2

            return scan(combine, torch.zeros_like(x[0]), x)

    network, own = Sums().eval(), planner()
    program = lowered(network, (torch.randn(5, 4),), own)
    assert own.report.fallback is None and own.report.is_optimal
    values = (torch.randn(5, 4),)
    for a, b in zip(run(program, values), network(*values), strict=True):
        assert torch.allclose(a, b)


def test_a_scan_that_returns_its_carry():
    """The result is a copy of the carry. The next iteration overwrites the carry itself."""
    from torch._higher_order_ops.scan import scan

    class Before(torch.nn.Module):
        def forward(self, x):
            return scan(lambda carry, one: (carry + one, carry.clone()), torch.zeros_like(x[0]), x)

    network, own, values = Before().eval(), planner(), (torch.randn(5, 4),)
    program = lowered(network, values, own)
    assert own.report.fallback is None and own.report.is_optimal
    for a, b in zip(run(program, values), network(*values), strict=True):
        assert torch.allclose(a, b)


def test_a_loop_that_executorch_cannot_emit():
    from torch._higher_order_ops.while_loop import while_loop

    class Counted(torch.nn.Module):
        def forward(self, x):
            return while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, torch.relu(y) * 2), (torch.tensor(0), x))[1]

    with pytest.raises(ValueError, match="cannot emit 'while_loop'"):
        lowered(Counted(), (torch.randn(5, 4),), planner())
