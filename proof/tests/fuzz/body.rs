//! The body of the fuzz target `proof_text`, which the smoke test also uses.

use plimsoll_proof::{Instance, check};

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
/// If the checker accepts a bound above the optimum of one of [`INSTANCES`].
pub fn proof_text(data: &[u8]) {
    if let Some(end) = data.iter().position(|&byte| byte == 0) {
        if let Ok(instance) = Instance::from_csv(&String::from_utf8_lossy(&data[..end])) {
            let _ = check(&instance, &data[end + 1..]);
        }
        return;
    }
    let Some((&first, proof)) = data.split_first() else { return };
    let (csv, optimum) = INSTANCES[usize::from(first) % INSTANCES.len()];
    let instance = Instance::from_csv(csv).expect("the instances are valid");
    if let Ok(proved) = check(&instance, proof) {
        assert!(proved.bound <= optimum, "accepted {} above the optimum {optimum}", proved.bound);
    }
}
