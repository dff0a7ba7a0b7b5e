//! Bonds: sets of buffers that every layout makes contiguous at a step.

use crate::error::Reason;
use crate::tree::{Set, Tree, bits};
use crate::work::Work;

/// Maximum number of loose buffers of a bond.
const MOST_LOOSE: u32 = 6;

/// The numbers of the buffers of a bond.
#[derive(Clone, Debug, Default)]
pub(crate) struct Buffers {
    pub set: Vec<u32>,
    pub loose: Vec<u32>,
}

/// At one step, the leaves of the set are contiguous, apart from free units and some of the loose leaves.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bond {
    pub set: Set,
    pub loose: Set,
}

impl Bond {
    /// Returns trees that together have all arrangements with this bond. `all` are the leaves of the step.
    pub fn trees(self, all: Set, work: &Work<'_>) -> Result<Vec<Tree>, Reason> {
        if self.loose.count_ones() > MOST_LOOSE {
            return Err(Reason::TooManyLoose(MOST_LOOSE));
        }
        work.spend(self.work(all))?;
        let tree = Tree::all(all);
        Ok(self.unions().map(|set| tree.reduced(set).expect("any set can be contiguous")).collect())
    }

    /// Returns the number of units of work to reduce a tree with these leaves for every choice of loose
    /// buffers.
    fn work(self, all: Set) -> usize {
        tree_work(all) << self.loose.count_ones()
    }

    /// Joins the set with every subset of the loose buffers.
    fn unions(self) -> impl Iterator<Item = Set> {
        let loose: Vec<Set> = bits(self.loose).collect();
        (0..1u32 << loose.len()).map(move |choice| {
            let some = loose.iter().enumerate().filter(|(at, _)| choice >> at & 1 == 1);
            some.fold(self.set, |all, (_, leaf)| all | leaf)
        })
    }

    /// Reduces a tree by the union of the set and some loose buffers, for those at most two choices of loose
    /// buffers that come first and permit an arrangement.
    fn reduced(self, tree: &Tree) -> (Option<Tree>, Option<Tree>) {
        let mut some = self.unions().filter_map(|set| tree.reduced(set));
        (some.next(), some.next())
    }
}

/// Returns a tree without holes that contains all arrangements of a tree with all of these bonds. Returns
/// `None` if there are none. If only one choice of loose buffers permits a bond, this choice makes the tree
/// smaller, and other bonds are then tried again. Bonds do not restrict the places of free units, so holes
/// are omitted. `buffers` are the leaves that are not holes.
pub(crate) fn narrowed(
    tree: &Tree,
    buffers: Set,
    bonds: &[Bond],
    work: &Work<'_>,
) -> Result<Option<Tree>, Reason> {
    let bare = tree.renamed(&|leaf| (leaf & buffers != 0).then_some(leaf));
    let mut bare = bare.expect("some buffer is live");
    let mut open = bonds.to_vec();
    loop {
        let mut rest = Vec::new();
        for &bond in &open {
            work.spend(bond.work(bare.leaves()))?;
            match bond.reduced(&bare) {
                (None, _) => return Ok(None),
                (Some(next), None) => bare = next,
                _ => rest.push(bond),
            }
        }
        if rest.len() == open.len() {
            return Ok(Some(bare));
        }
        open = rest;
    }
}

/// Returns the number of units of work of one operation on a tree with these leaves.
pub(crate) fn tree_work(leaves: Set) -> usize {
    // An operation copies nodes, which takes longer than a visit.
    64 + 16 * leaves.count_ones() as usize
}
