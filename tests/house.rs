//! The house as its imports draw it: which file needs which. No circle of files, no arrow back between crates.
//!
//! An arrow goes from a file to the file that defines what it names by a path (`use` or inline); tests and plain
//! re-exports (`pub use`) make no arrows. `PLIMSOLL_WRITE_DOCS=1 cargo test --test house` rewrites the page in
//! ARCHITECTURE.md.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use syn::visit::Visit;
use syn::{Attribute, Item, UseTree, Visibility};

/// The crates, from the ground up: each needs only crates before it.
const CRATES: [(&str, &str); 9] = [
    ("plimsoll_model", "model"),
    ("plimsoll_datasets", "datasets"),
    ("plimsoll_heuristics", "heuristics"),
    ("plimsoll_solvers", "solvers"),
    ("plimsoll", "."),
    ("plimsoll_lab", "experiments/lab"),
    ("plimsoll_papers", "experiments/papers"),
    ("plimsoll_hardware", "experiments/hardware"),
    ("plimsoll_command", "experiments/command"),
];

const START: &str = "<!-- house: start -->\n";
const END: &str = "<!-- house: end -->\n";

type Names = Vec<String>;

/// One module: a file.
#[derive(Default)]
struct Module {
    /// Paths it names, from the root of the crate.
    named: BTreeSet<Names>,
    /// What it re-exports: the name, or `*`, and the path it stands for.
    doors: BTreeSet<(String, Names)>,
    /// Items it defines.
    items: BTreeSet<String>,
    /// Crates of the workspace it names.
    crates: BTreeSet<String>,
}

/// A crate: its modules by path.
#[derive(Default)]
struct House {
    modules: BTreeMap<Names, Module>,
}

fn is_test(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        attribute.path().is_ident("cfg")
            && attribute.parse_args::<syn::Path>().is_ok_and(|path| path.is_ident("test"))
    })
}

impl House {
    fn read(source: &Path) -> Self {
        let mut house = Self::default();
        let root = ["lib.rs", "main.rs"].map(|name| source.join(name)).into_iter().find(|path| path.exists());
        house.add(&root.expect("a crate has a root"), source, &Names::new());
        house
    }

    /// Reads a module; those inside it have their files in `folder`.
    fn add(&mut self, file: &Path, folder: &Path, path: &Names) {
        let text = fs::read_to_string(file).unwrap();
        let parsed = syn::parse_file(&text).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        let inner: Vec<String> = parsed
            .items
            .iter()
            .filter_map(|item| match item {
                Item::Mod(module) if module.content.is_none() && !is_test(&module.attrs) => {
                    Some(module.ident.to_string())
                }
                _ => None,
            })
            .collect();
        let mut reader = Reader { path, inner: &inner, module: Module::default(), imported: BTreeMap::new() };
        // Twice: what is imported below may be named above.
        reader.visit_file(&parsed);
        reader.visit_file(&parsed);
        self.modules.insert(path.clone(), reader.module);
        for name in inner {
            let own = folder.join(&name);
            let file = [own.with_extension("rs"), own.join("mod.rs")].into_iter().find(|file| file.exists());
            let file: PathBuf = file.unwrap_or_else(|| panic!("{}: no file of {name}", file_name(path)));
            self.add(&file, &own, &[path.as_slice(), &[name]].concat());
        }
    }

    /// The module that defines what a path names.
    fn home(&self, path: &[String], hops: usize) -> Option<Names> {
        let mut at = Names::new();
        for (depth, name) in path.iter().enumerate() {
            let below = [at.as_slice(), std::slice::from_ref(name)].concat();
            if self.modules.contains_key(&below) {
                at = below;
                continue;
            }
            let module = &self.modules[&at];
            if hops == 0 || module.items.contains(name) {
                return Some(at);
            }
            for (door, target) in &module.doors {
                let rest = if door == name { &path[depth + 1..] } else { &path[depth..] };
                let onward = [target.as_slice(), rest].concat();
                if door == name {
                    return self.home(&onward, hops - 1);
                }
                let inside = self.home(target, hops - 1);
                if door == "*" && inside.is_some_and(|inside| self.modules[&inside].items.contains(name)) {
                    return self.home(&onward, hops - 1);
                }
            }
            return Some(at);
        }
        Some(at)
    }

    /// Which module needs which.
    fn arrows(&self) -> BTreeMap<Names, BTreeSet<Names>> {
        let of = |(path, module): (&Names, &Module)| {
            let targets = module.named.iter().filter_map(|named| self.home(named, 9));
            (path.clone(), targets.filter(|target| target != path).collect())
        };
        self.modules.iter().map(of).collect()
    }
}

fn file_name(path: &[String]) -> String {
    if path.is_empty() { "the root".to_owned() } else { path.join("/") }
}

/// Collects what one file names.
struct Reader<'a> {
    path: &'a Names,
    inner: &'a [String],
    module: Module,
    /// What imported names stand for.
    imported: BTreeMap<String, Names>,
}

impl Reader<'_> {
    /// The path from the root of the crate; none where it leaves the crate.
    fn absolute(&mut self, names: &[String]) -> Option<Names> {
        let first = names.first()?;
        let mut base = match first.as_str() {
            "crate" => Names::new(),
            "self" | "super" => self.path.clone(),
            name if self.inner.iter().any(|inner| inner == name) => {
                return Some([self.path.as_slice(), names].concat());
            }
            name if self.imported.contains_key(name) => {
                return Some([self.imported[name].as_slice(), &names[1..]].concat());
            }
            name => {
                if CRATES.iter().any(|(known, _)| *known == name) {
                    self.module.crates.insert(name.to_owned());
                }
                return None;
            }
        };
        let ups = names.iter().take_while(|name| *name == "super").count();
        base.truncate(base.len().saturating_sub(ups));
        let own = names.iter().skip(ups.max(1)).filter(|name| *name != "self");
        base.extend(own.cloned());
        Some(base)
    }

    fn flatten(tree: &UseTree, before: &Names, all: &mut Vec<(String, Names)>) {
        let with = |name: &syn::Ident| [before.as_slice(), &[name.to_string()]].concat();
        match tree {
            UseTree::Path(path) => Self::flatten(&path.tree, &with(&path.ident), all),
            UseTree::Name(name) => all.push((name.ident.to_string(), with(&name.ident))),
            UseTree::Rename(name) => all.push((name.rename.to_string(), with(&name.ident))),
            UseTree::Glob(_) => all.push(("*".to_owned(), before.clone())),
            UseTree::Group(group) => group.items.iter().for_each(|tree| Self::flatten(tree, before, all)),
        }
    }
}

impl<'ast> Visit<'ast> for Reader<'_> {
    fn visit_item(&mut self, item: &'ast Item) {
        let (name, attributes) = match item {
            Item::Const(one) => (Some(&one.ident), &one.attrs),
            Item::Enum(one) => (Some(&one.ident), &one.attrs),
            Item::Fn(one) => (Some(&one.sig.ident), &one.attrs),
            Item::Static(one) => (Some(&one.ident), &one.attrs),
            Item::Struct(one) => (Some(&one.ident), &one.attrs),
            Item::Trait(one) => (Some(&one.ident), &one.attrs),
            Item::Type(one) => (Some(&one.ident), &one.attrs),
            Item::Mod(one) => (None, &one.attrs),
            Item::Impl(one) => (None, &one.attrs),
            _ => return syn::visit::visit_item(self, item),
        };
        if is_test(attributes) {
            return;
        }
        self.module.items.extend(name.map(ToString::to_string));
        syn::visit::visit_item(self, item);
    }

    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        if is_test(&item.attrs) {
            return;
        }
        let mut all = Vec::new();
        Self::flatten(&item.tree, &Names::new(), &mut all);
        let is_door = !matches!(item.vis, Visibility::Inherited);
        for (name, path) in all {
            let Some(path) = self.absolute(&path) else { continue };
            if is_door {
                self.module.doors.insert((name.clone(), path.clone()));
            } else {
                self.module.named.insert(path.clone());
            }
            self.imported.insert(name, path);
        }
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let names: Names = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        if names.len() > 1
            && let Some(path) = self.absolute(&names)
        {
            self.module.named.insert(path);
        }
        syn::visit::visit_path(self, path);
    }
}

/// Every node that a node reaches.
fn reach<T: Ord + Clone>(arrows: &BTreeMap<T, BTreeSet<T>>, from: &T) -> BTreeSet<T> {
    let (mut seen, mut todo) = (BTreeSet::new(), vec![from.clone()]);
    while let Some(at) = todo.pop() {
        for next in arrows.get(&at).into_iter().flatten() {
            if seen.insert(next.clone()) {
                todo.push(next.clone());
            }
        }
    }
    seen
}

/// Groups of nodes that reach each other.
fn circles<T: Ord + Clone>(arrows: &BTreeMap<T, BTreeSet<T>>) -> BTreeSet<BTreeSet<T>> {
    let reached: BTreeMap<&T, BTreeSet<T>> = arrows.keys().map(|node| (node, reach(arrows, node))).collect();
    let in_circle = reached.iter().filter(|(node, reached)| reached.contains(**node));
    in_circle
        .map(|(node, mine)| mine.iter().filter(|other| reached[*other].contains(*node)).cloned().collect())
        .collect()
}

fn source(folder: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(folder).join("src")
}

#[test]
fn no_circle_of_files() {
    let mut found = Vec::new();
    for (name, folder) in CRATES {
        let arrows = House::read(&source(folder)).arrows();
        for circle in circles(&arrows) {
            let files: Vec<String> = circle.iter().map(|path| file_name(path)).collect();
            found.push(format!("{name}: {}", files.join(", ")));
            for from in &circle {
                for to in arrows[from].intersection(&circle) {
                    found.push(format!("    {} -> {}", file_name(from), file_name(to)));
                }
            }
        }
    }
    assert!(!drawing().contains(" = "), "rooms in circles:\n{}", drawing());
    assert!(found.is_empty(), "files in circles:\n{}", found.join("\n"));
}

#[test]
fn no_crate_needs_one_above_it() {
    for (at, (name, folder)) in CRATES.iter().enumerate() {
        let below: BTreeSet<&str> = CRATES[..at].iter().map(|(name, _)| *name).collect();
        for (path, module) in &House::read(&source(folder)).modules {
            for other in module.crates.iter().filter(|other| other != name) {
                assert!(below.contains(other.as_str()), "{name}: {} needs {other}", file_name(path));
            }
        }
    }
}

/// The rooms of a crate, files and folders in `src`, by floors: each needs only rooms on floors below its own. Rooms that
/// need each other stand on one floor, joined by `=`.
fn floors(arrows: &BTreeMap<Names, BTreeSet<Names>>) -> Vec<BTreeSet<String>> {
    let room = |path: &Names| path.first().cloned();
    let mut between: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (from, targets) in arrows {
        let Some(from) = room(from) else { continue };
        let others = targets.iter().filter_map(room).filter(|to| *to != from);
        between.entry(from.clone()).or_default().extend(others);
    }
    let joined = circles(&between);
    let name = |room: &String| {
        let circle = joined.iter().find(|circle| circle.contains(room));
        circle.map_or_else(|| room.clone(), |circle| circle.iter().cloned().collect::<Vec<_>>().join(" = "))
    };
    let mut needs: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (from, targets) in &between {
        let own = needs.entry(name(from)).or_default();
        own.extend(targets.iter().map(name));
        own.remove(&name(from));
    }
    let mut floors: Vec<BTreeSet<String>> = Vec::new();
    while !needs.is_empty() {
        let built = |room: &String| floors.iter().any(|floor| floor.contains(room));
        let ready = needs.iter().filter(|(_, below)| below.iter().all(built));
        let floor: BTreeSet<String> = ready.map(|(room, _)| room.clone()).collect();
        assert!(!floor.is_empty(), "circles were joined");
        needs.retain(|room, _| !floor.contains(room));
        floors.push(floor);
    }
    floors
}

/// One floor in lines of at most 110 columns.
fn floor_lines(at: usize, floor: &BTreeSet<String>) -> Vec<String> {
    let mut lines = vec![format!("  {at:>2}")];
    for room in floor {
        let last = lines.last_mut().expect("there is a first line");
        if last.len() + room.len() > 108 {
            lines.push(format!("      {room}"));
        } else {
            last.push_str("  ");
            last.push_str(room);
        }
    }
    lines
}

fn drawing() -> String {
    let mut lines = Vec::new();
    for (name, folder) in CRATES.iter().rev() {
        let house = House::read(&source(folder));
        let named = |one: &&str| house.modules.values().any(|module| module.crates.contains(*one));
        let needed: Vec<&str> = CRATES.iter().map(|(name, _)| *name).filter(named).collect();
        let needed = if needed.is_empty() { "no other".to_owned() } else { needed.join(", ") };
        let place = if *folder == "." { "src".to_owned() } else { format!("{folder}/src") };
        lines.push(format!("{name} ({place}) needs {needed}"));
        for (at, floor) in floors(&house.arrows()).iter().enumerate().rev() {
            lines.extend(floor_lines(at, floor));
        }
        lines.push(String::new());
    }
    lines.join("\n")
}

#[test]
fn the_drawing_is_that_of_the_imports() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/ARCHITECTURE.md");
    let text = fs::read_to_string(path).unwrap();
    let (before, rest) = text.split_once(START).expect("the drawing begins");
    let (drawn, after) = rest.split_once(END).expect("the drawing ends");
    let now = format!("```text\n{}```\n", drawing());
    if std::env::var_os("PLIMSOLL_WRITE_DOCS").is_some() {
        fs::write(path, format!("{before}{START}{now}{END}{after}")).unwrap();
    } else {
        assert_eq!(drawn, now, "PLIMSOLL_WRITE_DOCS=1 cargo test --test house writes it");
    }
}
