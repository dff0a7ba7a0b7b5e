//! Tests minimum makespans over all orders against exhaustive enumeration of orders.

use super::timelines::Draw;
use plimsoll_model::orders::{Order, OrderProblem, Storage};
use plimsoll_model::timelines::{Dma, Time, TimedOperator, check_timeline};
use plimsoll_model::{Budget, Bytes, Claim, OperatorId, Silent, Solver, Stop};
use plimsoll_solvers::timelines::{ExactTimeline, FreeOrder, exact_orders};

/// Returns a random graph in which every operator produces a storage that its successors touch.
fn graph(draw: &mut Draw, count: usize) -> OrderProblem {
    let mut edges = Vec::new();
    let mut storages = Vec::new();
    for before in 0..count {
        let mut users = vec![OperatorId::at(before)];
        for after in before + 1..count {
            if draw.below(3) == 0 {
                edges.push((OperatorId::at(before), OperatorId::at(after)));
                users.push(OperatorId::at(after));
            }
        }
        let size = Bytes::new(draw.below(8) + 1);
        storages.push(Storage {
            name: format!("s{before}"),
            size,
            users,
            from_start: false,
            to_end: draw.below(4) == 0,
        });
    }
    let names = (0..count).map(|at| format!("o{at}")).collect();
    OrderProblem::new("g", names, edges, storages, vec![Bytes::ZERO; count]).unwrap()
}

fn free<'a>(draw: &mut Draw, orders: &'a OrderProblem) -> FreeOrder<'a> {
    let operators = (0..orders.len()).map(|at| TimedOperator {
        name: format!("o{at}"),
        compute: Time::new(draw.below(12)),
        weights: Bytes::new(if draw.below(4) == 0 { 0 } else { draw.below(12) + 1 }),
        activations: Bytes::ZERO,
    });
    let operators = operators.collect();
    let channels = draw.below(2) as u32 + 1;
    FreeOrder {
        orders,
        operators,
        dma: Dma { channels, startup: Time::new(draw.below(3)), bandwidth: 1_000_000_000_000 },
        copy: None,
        capacity: Bytes::new(12 + draw.below(40)),
        alignment: Bytes::new(1),
        slice: (draw.below(4) == 0).then_some(Bytes::new(5)),
        peak: draw.below(4) == 0,
    }
}

/// Returns the minimum makespan over all orders with prefix `order`, or `None` if no such order is feasible.
fn least(input: &FreeOrder<'_>, order: &mut Vec<OperatorId>) -> Option<Time> {
    if order.len() == input.orders.len() {
        let problem = input.timeline(&Order::new(order.clone())).unwrap();
        let found = ExactTimeline.solve(&problem, &mut Budget::unlimited(), &mut Silent).unwrap();
        assert!(matches!(found.claim, Claim::Optimal | Claim::Infeasible));
        return found.value;
    }
    let ready = input.orders.ids().filter(|id| {
        !order.contains(id) && input.orders.predecessors(*id).iter().all(|before| order.contains(before))
    });
    let ready: Vec<OperatorId> = ready.collect();
    let mut best = None;
    for id in ready {
        order.push(id);
        best = [best, least(input, order)].into_iter().flatten().min();
        order.pop();
    }
    best
}

#[test]
fn exact_orders_equal_the_best_of_all_orders() {
    let mut draw = Draw(3);
    let (mut better, mut infeasible) = (0, 0);
    for round in 0..150 {
        let count = 2 + draw.below(4) as usize;
        let orders = graph(&mut draw, count);
        let input = free(&mut draw, &orders);
        let first = orders.as_in_file();
        let found = exact_orders(&input, &first, &mut Budget::unlimited()).unwrap();
        let least = least(&input, &mut Vec::new());
        assert_eq!(found.stop, Stop::Completed);
        assert_eq!(found.makespan(), least, "round {round}: {input:?}");
        let claim = if least.is_some() { Claim::Optimal } else { Claim::Infeasible };
        assert_eq!(found.claim, claim, "round {round}: {:?} {input:?}", found.lower_bound);
        infeasible += u32::from(least.is_none());
        let fixed = ExactTimeline
            .solve(&input.timeline(&first).unwrap(), &mut Budget::unlimited(), &mut Silent)
            .unwrap();
        if let Some((order, problem, timeline)) = &found.best {
            assert_eq!(check_timeline(problem, timeline), []);
            assert_eq!(&input.timeline(order).unwrap(), problem);
            better += u32::from(fixed.value.is_none_or(|fixed| timeline.makespan() < fixed));
        }
    }
    assert!(better >= 20 && infeasible >= 3, "{better} better than the first, {infeasible} infeasible");
}

#[test]
fn limits_leave_a_bound() {
    let mut draw = Draw(9);
    let orders = graph(&mut draw, 14);
    let input = FreeOrder { capacity: Bytes::new(1000), ..free(&mut draw, &orders) };
    let found =
        exact_orders(&input, &orders.as_in_file(), &mut Budget::unlimited().with_node_limit(50)).unwrap();
    assert!(found.makespan().unwrap() >= found.lower_bound.value);
}
