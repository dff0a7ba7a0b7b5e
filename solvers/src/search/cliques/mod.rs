mod analyse;
mod engine;
mod problem;
mod state;

pub(crate) use engine::Engine;
pub(crate) use problem::Cliques;
