//! Random chains for measurements. Their sizes and costs are distributed differently from those of the
//! calibration chain.

use plimsoll_model::graph::{Graph, GraphBuilder, GraphError, Operator, Role, Tensor};

/// Number of operators of a chain.
const OPERATORS: usize = 60;
/// Base-2 logarithms of the maximum numbers of rows, approximately. The number of rows determines the ratio
/// of arithmetic to bytes of weights.
const POWERS: [u64; 4] = [1, 4, 7, 10];

/// A linear congruential generator of 31-bit numbers with Knuth's constants. Records depend on its output, so
/// it must not change.
pub(super) struct Steps(pub u64);

impl Steps {
    pub fn draw(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.0 >> 33
    }
}

/// Returns chain number `nth`, counted from 0. It has 60 operators. Every fifth operator is a pass over its
/// tensors, and the others are products with 1 KiB to 2 MiB of weights. As `nth` increases, the maximum
/// number of rows cycles through about 2, 16, 128 and 1024.
///
/// # Errors
/// The errors from the graph builder. None are known to occur.
pub fn chain(nth: u64) -> Result<Graph, GraphError> {
    let power = POWERS[(nth % 4) as usize];
    let mut random = Steps((nth + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let mut draw = |below: u64| random.draw() % below;
    let mut build = GraphBuilder::new(format!("chain-{nth}-rows-{}", 1 << power));
    let body = build.body();
    let input = build.tensor(Tensor::new("t0", 4096, Role::Input));
    let mut last = input;
    for at in 1..=OPERATORS {
        let role = if at == OPERATORS { Role::Output } else { Role::Activation };
        let bytes = 4096 << draw(7);
        let next = build.tensor(Tensor::new(format!("t{at}"), bytes, role));
        let pass = at % 5 == 0;
        let mut operator = Operator::new(format!("o{at}"), if pass { "Relu" } else { "Gemm" });
        operator.inputs.push(last);
        if !pass {
            // The numbers of bytes and rows are approximately log-uniform.
            let least = 1024u64 << draw(11);
            let weights = (least + draw(least)) / 4 * 4;
            let rows = (1u64 << draw(power + 1)).saturating_add(draw(3));
            operator.inputs.push(build.tensor(Tensor::new(format!("w{at}"), weights, Role::Weight)));
            operator.cost = Some(rows * weights / 4);
        }
        build.operator(body, operator.makes([next]));
        last = next;
    }
    build.interface(body, [input], [last]);
    build.build()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chains_repeat_and_differ() {
        let (one, two) = (chain(1).unwrap(), chain(2).unwrap());
        assert_eq!(one.name(), "chain-1-rows-16");
        assert_eq!((one.operators().len(), one.regions().len()), (OPERATORS, 1));
        assert_eq!(one.operators(), chain(1).unwrap().operators());
        assert_ne!(one.bytes(Role::Weight), two.bytes(Role::Weight));
        // Records depend on these sizes.
        assert_eq!(one.bytes(Role::Weight).get(), 11_961_012);
    }
}
