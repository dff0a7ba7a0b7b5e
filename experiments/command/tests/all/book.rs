//! Tests that the commands on the front page and in the book run, and that they print the quoted output.
//!
//! The commands of each page run from top to bottom in a new empty folder. A fenced block below a paragraph
//! that ends in the words `` as `NAME`: `` is written to the file NAME. Lines `$ plimsoll ...` of `console` blocks are executed. They must
//! exit with 0, or with N if `# exit N` follows. The lines below a command are its standard output. `...` at
//! the end of a line stands for the rest of the line; `...` alone stands for any number of lines. Pictures
//! that the commands write to `pictures/` must equal those in `docs/src/pictures`. `PLIMSOLL_WRITE_DOCS=1`
//! updates the quoted lines and the pictures.

use crate::common::Scratch;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

/// The root of the repository.
const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

fn pages() -> Vec<PathBuf> {
    fn below(folder: &Path, pages: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                below(&path, pages);
            } else if path.extension().is_some_and(|extension| extension == "md") {
                pages.push(path);
            }
        }
    }
    let mut pages = vec![Path::new(ROOT).join("README.md")];
    below(&Path::new(ROOT).join("docs/src"), &mut pages);
    pages.sort();
    pages
}

/// A page whose commands are being run.
struct Page {
    scratch: Scratch,
    /// The text of the page, with quoted lines replaced by the current output.
    renewed: Vec<String>,
    /// Descriptions of all differences.
    faults: Vec<String>,
}

impl Page {
    fn run(text: &str) -> Self {
        let mut page = Self { scratch: Scratch::new(), renewed: Vec::new(), faults: Vec::new() };
        let mut lines = text.lines();
        let mut file = None;
        while let Some(line) = lines.next() {
            page.renewed.push(line.to_owned());
            if let Some(language) = line.strip_prefix("```") {
                let block: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
                match file.take() {
                    Some(name) => drop(page.scratch.write(name, block.join("\n") + "\n")),
                    None if language == "console" => page.console(&block),
                    None => {}
                }
                if language != "console" {
                    page.renewed.extend(block.iter().map(|&line| line.to_owned()));
                }
                page.renewed.push("```".to_owned());
            } else if !line.is_empty() {
                file =
                    line.strip_suffix("`:").and_then(|line| line.rsplit_once("as `")).map(|(_, name)| name);
            }
        }
        page
    }

    fn console(&mut self, block: &[&str]) {
        for part in block.chunk_by(|_, next| !next.starts_with("$ ")) {
            let (command, quoted) = part.split_first().unwrap();
            self.renewed.push((*command).to_owned());
            let printed = self.command(command);
            let printed: Vec<&str> = printed.lines().collect();
            if quoted.is_empty() || printed.is_empty() || matches(quoted, &printed) {
                if printed.is_empty() && !matches(quoted, &[]) {
                    self.faults.push(format!("{command}: prints nothing"));
                }
                self.renewed.extend(quoted.iter().map(|&line| line.to_owned()));
            } else {
                self.faults.push(format!("{command}\n{}", printed.join("\n")));
                self.renewed.extend(elided(quoted, &printed));
            }
        }
    }

    /// Runs one command and returns its standard output.
    fn command(&mut self, line: &str) -> String {
        let (line, code) = line.split_once("  # exit ").unwrap_or((line, "0"));
        let Some(words) = line.strip_prefix("$ plimsoll").and_then(shlex::split) else {
            self.faults.push(format!("not a command of plimsoll: {line}"));
            return String::new();
        };
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let run = self.scratch.narrow(&words);
        if run.code.to_string() != code.trim() {
            self.faults.push(format!("{line}: exit {}\n{}", run.code, run.stderr));
        }
        run.stdout
    }

    /// Compares the pictures that the commands wrote with those of the book, or updates the book.
    fn pictures(&mut self, write: bool) {
        for name in self.renewed.join("\n").split("](").skip(1).filter_map(|link| {
            let (path, _) = link.split_once(')')?;
            path.split_once("pictures/").map(|(_, name)| name.to_owned())
        }) {
            let kept = Path::new(ROOT).join("docs/src/pictures").join(&name);
            let Ok(made) = fs::read(self.scratch.path("pictures").join(&name)) else {
                self.faults.push(format!("no command writes pictures/{name}"));
                continue;
            };
            if write {
                fs::create_dir_all(kept.parent().unwrap()).unwrap();
                fs::write(&kept, &made).unwrap();
            } else if fs::read(&kept).is_ok_and(|kept| kept != made) || !kept.exists() {
                self.faults.push(format!("{name} is not what its command draws"));
            }
        }
    }
}

/// Reduces every run of blanks in a line to one blank, and every word of dashes to one dash. The widths of
/// columns depend on measured times and are therefore not compared.
fn squeezed(line: &str) -> String {
    let word =
        |word: &str| if word.bytes().all(|byte| byte == b'-') { "-".to_owned() } else { word.to_owned() };
    line.split_whitespace().map(word).collect::<Vec<_>>().join(" ")
}

/// Returns true if the printed lines match the quoted ones, apart from the widths of columns.
fn matches(quoted: &[&str], printed: &[&str]) -> bool {
    match (quoted, printed) {
        ([], []) => true,
        (["...", rest @ ..], _) => (0..=printed.len()).any(|skipped| matches(rest, &printed[skipped..])),
        ([line, quoted @ ..], [first, printed @ ..]) => {
            let (line, first) = (squeezed(line), squeezed(first));
            line.strip_suffix("...").map_or(line == first, |start| first.starts_with(start.trim_end()))
                && matches(quoted, printed)
        }
        _ => false,
    }
}

/// Returns the printed lines, with the same parts elided as in the quoted lines.
fn elided(quoted: &[&str], printed: &[&str]) -> Vec<String> {
    let line = |line: &&str| {
        let fits = |old: &&&str| {
            let start = old.strip_suffix("...");
            start.is_some_and(|start| !start.is_empty() && line.starts_with(start.trim_end()))
        };
        quoted.iter().find(fits).map_or((*line).to_owned(), |old| (*old).to_owned())
    };
    let Some(first) = quoted.iter().position(|line| *line == "...") else {
        return printed.iter().map(line).collect();
    };
    let last = quoted.iter().rposition(|line| *line == "...").unwrap_or(first);
    let tail = printed.len().saturating_sub(quoted.len() - 1 - last).max(first.min(printed.len()));
    let head = printed.iter().take(first).map(line);
    head.chain(["...".to_owned()]).chain(printed[tail..].iter().map(line)).collect()
}

#[test]
fn quoted_lines_match_up_to_their_dots() {
    assert!(matches(&["a", "...", "d 1..."], &["a", "b", "c", "d 12"]));
    assert!(!matches(&["a", "..."], &["b"]) && !matches(&["a"], &["a", "b"]));
    assert!(matches(&["time  gap", "----  ---"], &["time    gap", "------  ---"]));
    assert_eq!(elided(&["time  ..."], &["time  1.5"]), ["time  ..."]);
    assert_eq!(elided(&["a", "...", "z"], &["b", "c", "d", "y"]), ["b", "...", "y"]);
}

#[test]
#[cfg_attr(not(all(feature = "ilp", feature = "smt")), ignore = "pages show the solvers ilp and smt")]
fn every_page_prints_what_it_quotes() {
    let write = std::env::var_os("PLIMSOLL_WRITE_DOCS").is_some();
    let pages = Mutex::new(pages());
    let faults = Mutex::new(Vec::new());
    let work = || {
        while let Some(path) = { pages.lock().unwrap().pop() } {
            let text = fs::read_to_string(&path).unwrap();
            let mut page = Page::run(&text);
            page.pictures(write);
            let renewed = page.renewed.join("\n") + "\n";
            if write && renewed != text {
                fs::write(&path, renewed).unwrap();
            }
            let name = path.strip_prefix(ROOT).unwrap_or(&path).display().to_string();
            faults.lock().unwrap().extend(page.faults.into_iter().map(|fault| format!("{name}: {fault}")));
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(work);
        }
    });
    let faults = faults.into_inner().unwrap();
    assert!(faults.is_empty(), "{}", faults.join("\n\n"));
}

/// Options of cargo and other programs that the pages mention.
const FOREIGN: [&str; 21] = [
    "--path",
    "--locked",
    "--features",
    "--no-default-features",
    "--open",
    "--release",
    "--example",
    "--input",
    "--package",
    // Options of pkg-config, sha256sum and tar.
    "--cflags",
    "--libs",
    "--static",
    "--check",
    "--strip-components",
    // Options of plimsoll-minimalloc, cut before the first underscore.
    "--timeout",
    "--validate",
    "--minimize",
    "--canonical",
    "--print",
    // Options of iree-compile.
    "--mlir-print-ir-before",
    "--mlir-print-ir-after",
];

#[test]
fn options_and_targets_on_the_pages_exist() {
    let scratch = Scratch::new();
    scratch.plimsoll(&["man", "pages"]).exits(0);
    let manual = fs::read_dir(scratch.path("pages")).unwrap();
    let mut known: String = manual.map(|page| fs::read_to_string(page.unwrap().path()).unwrap()).collect();
    known = known.replace("\\-", "-");
    let makefile = fs::read_to_string(Path::new(ROOT).join("Makefile")).unwrap();
    let is_word = |letter: char| letter.is_ascii_lowercase() || letter == '-';
    let mut faults = Vec::new();
    for path in pages() {
        let text = fs::read_to_string(&path).unwrap();
        let options =
            text.match_indices(" --").chain(text.match_indices("`--")).map(|(at, _)| &text[at + 1..]);
        for option in options.map(|rest| rest.split(|letter| !is_word(letter)).next().unwrap_or_default()) {
            let is_known = known.contains(&format!("{option}\\fR")) || FOREIGN.contains(&option);
            if option.contains(char::is_alphabetic) && !option.ends_with('-') && !is_known {
                faults.push(format!("{}: no option {option}", path.display()));
            }
        }
        for target in text.split("make ").skip(1).filter(|_| text.contains("`make ")) {
            let target = target.split(|letter| !is_word(letter)).next().unwrap_or_default();
            let quoted = text.contains(&format!("`make {target}`"));
            if quoted && !makefile.contains(&format!("\n{target}:")) {
                faults.push(format!("{}: no target {target}", path.display()));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn the_page_of_operators_is_what_the_command_prints() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/src/operators.md");
    let table = Scratch::new().narrow(&["list", "operators"]).exits(0).stdout;
    let page = format!(
        "# Operators of ONNX models\n\n`plimsoll list operators` prints this table. It lists the operators that the ONNX importer supports,\n\
         by domain and by how the sizes of their outputs are determined. TFLite operators are translated into\n\
         these operators where the rules agree.\n\n```text\n{table}```\n"
    );
    if std::env::var_os("PLIMSOLL_WRITE_DOCS").is_some() {
        std::fs::write(path, &page).unwrap();
    }
    assert_eq!(std::fs::read_to_string(path).unwrap(), page, "PLIMSOLL_WRITE_DOCS=1 updates it");
}
