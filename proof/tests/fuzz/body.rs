//! The bodies of the fuzz targets `proof_text` and `order_proof_text`, which the smoke test also uses.
#![allow(dead_code, reason = "each target uses one of them")]

use plimsoll_proof::{Instance, check, check_orders};

/// Instances with their optima in bytes. The optimum of the first equals the load, and that of the second
/// exceeds it. The third has a fixed offset, alignments and gaps, and the fourth has separations and
/// exclusions.
pub const INSTANCES: [(&str, u64); 4] = [
    ("id,lower,upper,size\na,0,4,4\nb,2,6,3\nc,3,8,4\n", 11),
    (
        "id,lower,upper,size\nb0,3,4,13\nb1,3,5,4\nb2,2,4,3\nb3,1,2,1\nb4,2,5,4\nb5,0,2,9\nb6,5,6,7\nb7,4,6,7\n\
         b8,0,3,6\nb9,4,5,9\nb10,5,6,5\nb11,0,1,3\nb12,0,1,6\nb13,5,6,5\nb14,2,3,11\nb15,1,2,8\n",
        25,
    ),
    (
        "id,lower,upper,size,alignment,offset,gaps\na,0,4,3,4,,\nb,0,4,3,4,,\nc,2,9,1,1,3,4-6\nd,6,8,2,1,10,\n",
        12,
    ),
    ("id,lower,upper,size,separations,exclusions\na,0,2,5,b,\nb,4,6,5,,\nc,1,5,2,,d\nd,1,5,3,,\n", 13),
];

/// Checks `data` as a proof. If it contains a zero byte, the text before this byte is the instance, and the
/// text after it is the proof. Otherwise, the first byte selects one of [`INSTANCES`], and the rest is the
/// proof.
///
/// # Panics
/// Panics if the checker accepts a bound above the optimum of one of [`INSTANCES`].
pub fn proof_text(data: &[u8]) {
    if let Some(end) = data.iter().position(|&byte| byte == 0) {
        if let Ok(instance) = Instance::from_csv(&String::from_utf8_lossy(&data[..end])) {
            let _ = check(&instance, &data[end + 1..], &|| false);
        }
        return;
    }
    let Some((&first, proof)) = data.split_first() else { return };
    let (csv, optimum) = INSTANCES[usize::from(first) % INSTANCES.len()];
    let instance = Instance::from_csv(csv).expect("the instances are valid");
    if let Ok(proved) = check(&instance, proof, &|| false) {
        assert!(proved.bound <= optimum, "accepted {} above the optimum {optimum}", proved.bound);
    }
}

/// Maximum number of operators for which the optimum is computed.
const MOST_OPERATORS: usize = 10;

/// Checks `data` as a proof about orders.
///
/// # Panics
/// Panics if the checker accepts a bound above the optimum of a problem with at most [`MOST_OPERATORS`]
/// operators.
pub fn order_proof_text(data: &[u8]) {
    let Ok(proved) = check_orders(data, &|| false) else { return };
    let text = String::from_utf8_lossy(data);
    // Comments may contain any words.
    let lines = text.lines().filter(|line| !line.starts_with("c "));
    let words: Vec<Vec<&str>> = lines.map(|line| line.split_ascii_whitespace().collect()).collect();
    let sections = words.split(|words| words.first() == Some(&"region")).skip(1);
    for (section, one) in sections.zip(proved) {
        if one.problem.len() <= MOST_OPERATORS {
            let least = least_peak(section);
            assert!(u128::from(one.bound) <= least, "accepted {} above the optimum {least}", one.bound);
        }
    }
}

/// Computes the optimum of the problem in a section of a valid proof, by dynamic programming over all sets of
/// operators.
fn least_peak(section: &[Vec<&str>]) -> u128 {
    let numbers = |words: &[&str]| -> Vec<usize> { words.iter().map(|word| word.parse().unwrap()).collect() };
    let bits = |ids: Vec<usize>| ids.into_iter().fold(0usize, |all, id| all | 1 << id);
    let (mut operators, mut storages) = (Vec::new(), Vec::new());
    for words in section.iter().take_while(|words| words.first() != Some(&"bound")) {
        match words.as_slice() {
            ["operator", scratch, before @ ..] => {
                operators.push((scratch.parse::<u128>().unwrap(), bits(numbers(before))));
            }
            ["storage", size, rest @ ..] => {
                let start = rest.first() == Some(&"start");
                let end = rest.get(usize::from(start)) == Some(&"end");
                let users = bits(numbers(&rest[usize::from(start) + usize::from(end)..]));
                storages.push((size.parse::<u128>().unwrap(), start, end, users));
            }
            _ => {}
        }
    }
    let live = |begun: usize, ended: usize| -> u128 {
        let held = storages
            .iter()
            .filter(|&&(_, start, end, users)| (start || users & begun != 0) && (end || users & !ended != 0));
        held.map(|one| one.0).sum()
    };
    // A storage without users is held before the first operator, or after the last one.
    let held = |start: bool| -> u128 {
        storages.iter().filter(|one| if start { one.1 } else { one.2 }).map(|one| one.0).sum()
    };
    // Operators that depend on each other have no order.
    let mut best = vec![u128::MAX; 1 << operators.len()];
    best[0] = held(true);
    for ran in 0..best.len() {
        for (at, &(scratch, before)) in operators.iter().enumerate() {
            let next = ran | 1 << at;
            if next != ran && before & !ran == 0 && best[ran] < u128::MAX {
                best[next] = best[next].min(best[ran].max(live(next, ran) + scratch));
            }
        }
    }
    let last = best.len() - 1;
    best[last].max(held(false))
}
