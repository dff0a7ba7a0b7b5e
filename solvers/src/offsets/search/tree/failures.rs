//! Failure weights of sections (Boussemart et al. 2004).

/// Factor by which the weight of a failure grows from one failure to the next.
const GROWTH: f64 = 1.00001;

/// A weight for each section, to which failures add. Later failures count more.
#[derive(Clone, Debug)]
pub(super) struct Failures {
    pub weight: Vec<f64>,
    increment: f64,
    counts: bool,
}

impl Failures {
    /// Returns equal weights. If `counts` is false, they never change.
    pub fn new(sections: usize, counts: bool) -> Self {
        Self { weight: vec![1.0; sections], increment: 1.0, counts }
    }

    /// Records a failure of a section.
    pub fn blame(&mut self, section: usize) {
        if !self.counts {
            return;
        }
        self.weight[section] += self.increment;
        self.increment *= GROWTH;
        if self.increment > 1e100 {
            for weight in &mut self.weight {
                *weight = 1.0 + *weight / self.increment;
            }
            self.increment = 1.0;
        }
    }
}
