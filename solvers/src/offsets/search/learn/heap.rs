//! A priority queue of variables, ordered by their recent activity in conflicts.

/// A binary heap with the most active variable at the top.
#[derive(Clone, Debug)]
pub(super) struct Heap {
    activity: Vec<f64>,
    step: f64,
    order: Vec<u32>,
    place: Vec<u32>,
}

const OUT: u32 = u32::MAX;

/// The activity above which all activities are rescaled.
const MOST: f64 = 1e100;

impl Heap {
    pub fn new(activity: Vec<f64>) -> Self {
        let n = activity.len();
        let mut heap = Self { activity, step: 1.0, order: Vec::with_capacity(n), place: vec![OUT; n] };
        (0..n as u32).for_each(|var| heap.insert(var));
        heap
    }

    fn above(&self, a: u32, b: u32) -> bool {
        let (x, y) = (self.activity[a as usize], self.activity[b as usize]);
        x.total_cmp(&y).then(b.cmp(&a)).is_gt()
    }

    pub fn insert(&mut self, var: u32) {
        if self.place[var as usize] == OUT {
            self.place[var as usize] = self.order.len() as u32;
            self.order.push(var);
            self.rise(self.order.len() - 1);
        }
    }

    pub fn pop(&mut self) -> Option<u32> {
        let top = *self.order.first()?;
        let last = self.order.pop().expect("the heap is not empty");
        self.place[top as usize] = OUT;
        if last != top {
            self.order[0] = last;
            self.place[last as usize] = 0;
            self.sink(0);
        }
        Some(top)
    }

    pub fn bump(&mut self, var: u32) {
        self.activity[var as usize] += self.step;
        if self.activity[var as usize] > MOST {
            self.activity.iter_mut().for_each(|a| *a /= MOST);
            self.step /= MOST;
        }
        let place = self.place[var as usize];
        if place != OUT {
            self.rise(place as usize);
        }
    }

    pub fn decay(&mut self, factor: f64) {
        self.step /= factor;
    }

    fn put(&mut self, at: usize, var: u32) {
        self.order[at] = var;
        self.place[var as usize] = at as u32;
    }

    fn rise(&mut self, mut at: usize) {
        let var = self.order[at];
        while at > 0 && self.above(var, self.order[(at - 1) / 2]) {
            self.put(at, self.order[(at - 1) / 2]);
            at = (at - 1) / 2;
        }
        self.put(at, var);
    }

    fn sink(&mut self, mut at: usize) {
        let var = self.order[at];
        loop {
            let left = 2 * at + 1;
            let Some(&first) = self.order.get(left) else { break };
            let right = self.order.get(left + 1).filter(|&&right| self.above(right, first));
            let (child, next) = right.map_or((first, left), |&right| (right, left + 1));
            if !self.above(child, var) {
                break;
            }
            self.put(at, child);
            at = next;
        }
        self.put(at, var);
    }
}
