//! The declaration of a command: its name, its help and its behaviour under signals.

use crate::failure::{EXIT_CODES, Failure};
use crate::help;
use crate::signals::First;
use clap::{ArgMatches, Args};

/// The tasks under which the help groups the commands, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Task {
    /// Work on one instance.
    Instance,
    /// Work on one model.
    Model,
    /// Run many algorithms on many inputs.
    Algorithms,
    /// Data, lists and the command line itself.
    Reference,
    /// Commands that only other commands start. The help omits them.
    Internal,
}

impl Task {
    /// The tasks that the help shows, each with its heading.
    pub const SHOWN: [(Self, &str); 4] = [
        (Self::Instance, "Place the buffers of an instance"),
        (Self::Model, "Plan a model"),
        (Self::Algorithms, "Compare and measure algorithms"),
        (Self::Reference, "Data and reference"),
    ];
}

/// The arguments of a command, which also declare it.
pub trait Command: Args {
    /// The word after `plimsoll`.
    const NAME: &str;
    /// One line without a full stop.
    const ABOUT: &str;
    /// The task of the command.
    const TASK: Task;
    /// Two command lines, each with a description. They run in this order, in a folder that is empty at the
    /// start. Internal commands have none.
    const EXAMPLES: &[(&str, &str)];
    /// The help on exit codes.
    const CODES: &str = EXIT_CODES;
    /// Names of problems, each with the arguments of `plimsoll` before the name of an algorithm.
    const SOLVES: &[(&str, &str)] = &[];
    /// Whether the command shows the progress of runs. Commands that draw a progress bar of their own do not.
    const HAS_PROGRESS: bool = false;
    /// The effect of the first signal; `None` if the process ends with its parent.
    const SIGNAL: Option<First> = Some(First::Ends);
    /// Whether to declare the arguments of every command line. This takes longer than the solution of a small
    /// instance, so it is reserved for commands that have commands of their own, which `help` lists.
    const EAGER: bool = false;

    /// Runs the command, which is one of the given commands, and returns its exit code.
    const MAIN: Main<Self>;
}

/// A function that runs a command.
pub type Main<A> = fn(&A, &Commands) -> Result<u8, Failure>;

/// A command in the list of all commands.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    pub name: &'static str,
    pub about: &'static str,
    pub task: Task,
    pub solves: &'static [(&'static str, &'static str)],
    pub has_progress: bool,
    pub signal: Option<First>,
    /// Adds the command to the command line.
    pub declare: fn() -> clap::Command,
    /// Parses the arguments and runs the command.
    pub run: fn(&ArgMatches, &Commands) -> Result<u8, Failure>,
}

impl Entry {
    /// Returns the entry of a command.
    pub const fn of<A: Command>() -> Self {
        Self {
            name: A::NAME,
            about: A::ABOUT,
            task: A::TASK,
            solves: A::SOLVES,
            has_progress: A::HAS_PROGRESS,
            signal: A::SIGNAL,
            declare: declare::<A>,
            run: run::<A>,
        }
    }
}

/// The commands in the order of the help; `None` for a command that this build excludes.
#[derive(Debug)]
pub struct Commands(pub &'static [Option<Entry>]);

impl Commands {
    /// Returns the commands of this build.
    pub fn iter(&self) -> impl Iterator<Item = &'static Entry> {
        self.0.iter().flatten()
    }

    /// Returns the declaration of the command line, with its help.
    pub fn declaration(&self) -> clap::Command {
        let command = clap::Command::new("plimsoll")
            .version(plimsoll_lab::machine::VERSION)
            .about("Plan the memory of neural-network programs and prove how good the plans are")
            .subcommands(self.iter().map(|entry| (entry.declare)()));
        let groups = Task::SHOWN.map(|(task, heading)| {
            let own = self.iter().filter(|entry| entry.task == task);
            (heading, own.map(|entry| (entry.name, entry.about)).collect())
        });
        help::complete(command, &groups)
    }
}

/// Returns the entry of a command that does not run in a browser, except in a build for browsers.
pub const fn native<A: Command>() -> Option<Entry> {
    if cfg!(target_family = "wasm") { None } else { Some(Entry::of::<A>()) }
}

fn declare<A: Command>() -> clap::Command {
    const { assert!(A::EXAMPLES.len() == 2 || matches!(A::TASK, Task::Internal)) }
    let own = clap::Command::new(A::NAME).about(A::ABOUT).hide(A::TASK == Task::Internal);
    if A::EAGER { with_arguments::<A>(own) } else { own.defer(with_arguments::<A>) }
}

/// Declares the arguments. Groups of arguments have descriptions of their own, so that of the command is
/// repeated.
fn with_arguments<A: Command>(command: clap::Command) -> clap::Command {
    help::described(A::augment_args(command), A::EXAMPLES, A::CODES).about(A::ABOUT).long_about(None)
}

fn run<A: Command>(matches: &ArgMatches, all: &Commands) -> Result<u8, Failure> {
    match A::from_arg_matches(matches) {
        Ok(args) => (A::MAIN)(&args, all),
        Err(error) => Err(Failure::input(error)),
    }
}
