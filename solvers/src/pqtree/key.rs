//! Canonical keys of trees.

use super::{Forest, Kind, MOST_LEAVES, Tree};
use std::ops::Range;

/// Bytes that begin and end a node. All others are labels.
const P: u8 = 0xFD;
const Q: u8 = 0xFE;
const END: u8 = 0xFF;

/// Labels of leaves, and the leaves of each label.
///
/// The label of a set of interchangeable leaves is its lowest leaf.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Labels {
    /// The label of each leaf.
    label: [u8; MOST_LEAVES],
    /// The next leaf with the same label, or the leaf itself if it is the last.
    next: [u8; MOST_LEAVES],
}

impl Labels {
    /// Creates the labels from lists of interchangeable leaves. Each list is in ascending order. All other
    /// leaves have labels of their own.
    pub fn new<'a>(classes: impl IntoIterator<Item = &'a [u8]>) -> Self {
        let own = std::array::from_fn(|leaf| leaf as u8);
        let mut labels = Self { label: own, next: own };
        for class in classes {
            for (i, &leaf) in class.iter().enumerate() {
                labels.label[leaf as usize] = class[0];
                labels.next[leaf as usize] = class.get(i + 1).copied().unwrap_or(leaf);
            }
        }
        labels
    }

    /// Returns the lists of two or more interchangeable leaves.
    pub fn classes(&self) -> Vec<Vec<u8>> {
        let heads = (0..MOST_LEAVES).filter(|&leaf| self.label[leaf] as usize == leaf);
        let class = |head: usize| {
            let next = |&leaf: &u8| Some(self.next[leaf as usize]).filter(|&next| next != leaf);
            std::iter::successors(Some(head as u8), next).collect()
        };
        heads.map(class).filter(|class: &Vec<u8>| class.len() > 1).collect()
    }

    pub fn label(&self, leaf: u8) -> u8 {
        self.label[leaf as usize]
    }
}

/// Returns a key as text: `( .. )` for a P-node, `[ .. ]` for a Q-node, and the names of the leaves.
pub(crate) fn words(key: &[u8], name: &dyn Fn(u8) -> String) -> String {
    let mut open = Vec::new();
    let word = |&byte: &u8| match byte {
        P | Q => {
            open.push(byte);
            if byte == P { "(" } else { "[" }.to_owned()
        }
        END => if open.pop() == Some(P) { ")" } else { "]" }.to_owned(),
        leaf => name(leaf),
    };
    key.iter().map(word).collect::<Vec<String>>().join(" ")
}

impl Forest {
    /// Appends the key of a tree. Two trees have the same key if and only if they have the same permutations,
    /// up to an exchange of leaves with equal labels. O(n d) for n leaves and a tree of depth d.
    pub fn write(&self, tree: Tree, labels: &Labels, key: &mut Vec<u8>) {
        let node = self.nodes[tree as usize];
        let children = node.from..node.to;
        match node.kind {
            Kind::Leaf => key.push(labels.label[node.from as usize]),
            Kind::P => {
                key.push(P);
                let from = key.len();
                let mut inner = 0;
                for i in children.clone() {
                    let child = self.nodes[self.child(i) as usize];
                    if child.kind == Kind::Leaf {
                        key.push(labels.label[child.from as usize]);
                    } else {
                        inner += 1;
                    }
                }
                key[from..].sort_unstable();
                let from = key.len();
                let mut parts: Vec<Range<usize>> = Vec::new();
                for child in children.map(|i| self.child(i)) {
                    if self.nodes[child as usize].kind != Kind::Leaf {
                        let from = key.len();
                        self.write(child, labels, key);
                        if inner > 1 {
                            parts.push(from..key.len());
                        }
                    }
                }
                if inner > 1 {
                    parts.sort_by(|a, b| key[a.clone()].cmp(&key[b.clone()]));
                    let sorted: Vec<u8> = parts.into_iter().flat_map(|part| &key[part]).copied().collect();
                    key[from..].copy_from_slice(&sorted);
                }
                key.push(END);
            }
            Kind::Q => {
                key.push(Q);
                let from = key.len();
                let mut parts: Vec<Range<usize>> = Vec::with_capacity(children.len());
                for i in children {
                    let from = key.len();
                    self.write(self.child(i), labels, key);
                    parts.push(from..key.len());
                }
                let reversed: Vec<u8> =
                    parts.into_iter().rev().flat_map(|part| &key[part]).copied().collect();
                if reversed[..] < key[from..] {
                    key[from..].copy_from_slice(&reversed);
                }
                key.push(END);
            }
        }
    }

    /// Builds the tree of a key. The leaves of a label are assigned, in ascending order, to the occurrences
    /// of the label.
    pub fn read(&mut self, key: &[u8], labels: &Labels) -> Tree {
        self.open.clear();
        let mut cursor = labels.label;
        // Nodes whose end has not been read.
        let mut begun: Vec<(Kind, usize)> = Vec::new();
        for &byte in key {
            let tree = match byte {
                P | Q => {
                    begun.push((if byte == P { Kind::P } else { Kind::Q }, self.open.len()));
                    continue;
                }
                END => {
                    let (kind, base) = begun.pop().expect("a node ends after it begins");
                    self.close(kind, base)
                }
                label => {
                    let leaf = cursor[label as usize];
                    cursor[label as usize] = labels.next[leaf as usize];
                    self.leaf(leaf)
                }
            };
            self.open.push(tree);
        }
        self.open.pop().expect("a key is not empty")
    }

    /// Returns the leaves of a tree in the order of its key.
    pub fn canonical(&self, tree: Tree, labels: &Labels) -> Vec<u8> {
        let node = self.nodes[tree as usize];
        if node.kind == Kind::Leaf {
            return vec![node.from as u8];
        }
        let mut parts: Vec<(bool, Vec<u8>, Vec<u8>)> = (node.from..node.to)
            .map(|i| {
                let child = self.child(i);
                let mut key = Vec::new();
                self.write(child, labels, &mut key);
                (self.nodes[child as usize].kind != Kind::Leaf, key, self.canonical(child, labels))
            })
            .collect();
        let forwards = parts.iter().flat_map(|part| &part.1);
        let backwards = parts.iter().rev().flat_map(|part| &part.1);
        if node.kind == Kind::P {
            parts.sort_by(|a, b| (a.0, &a.1).cmp(&(b.0, &b.1)));
        } else if backwards.lt(forwards) {
            parts.reverse();
        }
        parts.into_iter().flat_map(|part| part.2).collect()
    }
}
