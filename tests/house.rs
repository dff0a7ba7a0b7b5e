//! Tests the structure of the code, which is derived from its imports: files must not form cycles, and no
//! crate may depend on a crate above it.
//!
//! A file depends on another file if it names an item of that file by a path (`use` or inline). Tests and
//! plain re-exports (`pub use`) do not count. `PLIMSOLL_WRITE_DOCS=1 cargo test --test house` rewrites the
//! drawing in ARCHITECTURE.md.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use syn::visit::Visit;
use syn::{Attribute, Item, UseTree, Visibility};

/// The crates, bottom up: each depends only on crates before it.
const CRATES: [(&str, &str); 13] = [
    ("plimsoll_proof", "proof"),
    ("plimsoll_support", "support"),
    ("plimsoll_model", "model"),
    ("plimsoll_datasets", "datasets"),
    ("plimsoll_heuristics", "heuristics"),
    ("plimsoll_solvers", "solvers"),
    ("plimsoll", "."),
    ("plimsoll_lab", "experiments/lab"),
    ("plimsoll_papers", "experiments/papers"),
    ("plimsoll_hardware", "experiments/hardware"),
    ("plimsoll_command", "experiments/command"),
    ("plimsoll_python", "python"),
    ("plimsoll_capi", "capi"),
];

const START: &str = "<!-- house: start -->\n";
const END: &str = "<!-- house: end -->\n";

type Names = Vec<String>;

/// One module, which is one file.
#[derive(Default)]
struct Module {
    /// Paths to which the module refers, from the root of the crate.
    named: BTreeSet<Names>,
    /// Re-exports of the module: the name, or `*`, and the path that it refers to.
    exports: BTreeSet<(String, Names)>,
    /// Names of the items that the module defines.
    items: BTreeSet<String>,
    /// Workspace crates to which the module refers.
    crates: BTreeSet<String>,
}

/// The modules of a crate by path.
#[derive(Default)]
struct Structure {
    modules: BTreeMap<Names, Module>,
}

fn is_test(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        attribute.path().is_ident("cfg")
            && attribute.parse_args::<syn::Path>().is_ok_and(|path| path.is_ident("test"))
    })
}

impl Structure {
    fn read(source: &Path) -> Self {
        let mut structure = Self::default();
        let root = ["lib.rs", "main.rs"].map(|name| source.join(name)).into_iter().find(|path| path.exists());
        structure.add(&root.expect("a crate has a root"), source, &Names::new());
        structure
    }

    /// Reads a module and its submodules, whose files are in `folder`.
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
        // Two passes, because a name may be used above its import.
        reader.visit_file(&parsed);
        reader.visit_file(&parsed);
        self.modules.insert(path.clone(), reader.module);
        for name in inner {
            let own = folder.join(&name);
            let file = [own.with_extension("rs"), own.join("mod.rs")].into_iter().find(|file| file.exists());
            let file: PathBuf =
                file.unwrap_or_else(|| panic!("{}: no file for module {name}", file_name(path)));
            self.add(&file, &own, &[path.as_slice(), &[name]].concat());
        }
    }

    /// Returns the module that defines the item at a path.
    fn definition(&self, path: &[String], hops: usize) -> Option<Names> {
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
            for (export, target) in &module.exports {
                let rest = if export == name { &path[depth + 1..] } else { &path[depth..] };
                let onward = [target.as_slice(), rest].concat();
                if export == name {
                    return self.definition(&onward, hops - 1);
                }
                let inside = self.definition(target, hops - 1);
                if export == "*" && inside.is_some_and(|inside| self.modules[&inside].items.contains(name)) {
                    return self.definition(&onward, hops - 1);
                }
            }
            return Some(at);
        }
        Some(at)
    }

    /// Returns, for every module, the modules that it depends on.
    fn dependencies(&self) -> BTreeMap<Names, BTreeSet<Names>> {
        let of = |(path, module): (&Names, &Module)| {
            let targets = module.named.iter().filter_map(|named| self.definition(named, 9));
            (path.clone(), targets.filter(|target| target != path).collect())
        };
        self.modules.iter().map(of).collect()
    }
}

fn file_name(path: &[String]) -> String {
    if path.is_empty() { "the root".to_owned() } else { path.join("/") }
}

/// Collects the paths to which one file refers.
struct Reader<'a> {
    path: &'a Names,
    inner: &'a [String],
    module: Module,
    /// The paths that imported names refer to.
    imported: BTreeMap<String, Names>,
}

impl Reader<'_> {
    /// Returns the path from the root of the crate, or `None` for a path outside the crate.
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
        let is_export = !matches!(item.vis, Visibility::Inherited);
        for (name, path) in all {
            let Some(path) = self.absolute(&path) else { continue };
            if is_export {
                self.module.exports.insert((name.clone(), path.clone()));
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

/// Returns all nodes reachable from a node.
fn reach<T: Ord + Clone>(edges: &BTreeMap<T, BTreeSet<T>>, from: &T) -> BTreeSet<T> {
    let (mut seen, mut todo) = (BTreeSet::new(), vec![from.clone()]);
    while let Some(at) = todo.pop() {
        for next in edges.get(&at).into_iter().flatten() {
            if seen.insert(next.clone()) {
                todo.push(next.clone());
            }
        }
    }
    seen
}

/// Returns the groups of nodes that reach each other.
fn cycles<T: Ord + Clone>(edges: &BTreeMap<T, BTreeSet<T>>) -> BTreeSet<BTreeSet<T>> {
    let reached: BTreeMap<&T, BTreeSet<T>> = edges.keys().map(|node| (node, reach(edges, node))).collect();
    let in_cycle = reached.iter().filter(|(node, reached)| reached.contains(**node));
    in_cycle
        .map(|(node, mine)| mine.iter().filter(|other| reached[*other].contains(*node)).cloned().collect())
        .collect()
}

fn source(folder: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(folder).join("src")
}

#[test]
fn files_form_no_cycle() {
    let mut found = Vec::new();
    for (name, folder) in CRATES {
        let edges = Structure::read(&source(folder)).dependencies();
        for cycle in cycles(&edges) {
            let files: Vec<String> = cycle.iter().map(|path| file_name(path)).collect();
            found.push(format!("{name}: {}", files.join(", ")));
            for from in &cycle {
                for to in edges[from].intersection(&cycle) {
                    found.push(format!("    {} -> {}", file_name(from), file_name(to)));
                }
            }
        }
    }
    assert!(!drawing().contains(" = "), "modules in cycles:\n{}", drawing());
    assert!(found.is_empty(), "files in cycles:\n{}", found.join("\n"));
}

/// Finds expressions that create a claim.
#[derive(Default)]
struct Claims {
    found: Vec<String>,
}

impl<'ast> Visit<'ast> for Claims {
    fn visit_item_mod(&mut self, module: &'ast syn::ItemMod) {
        if !is_test(&module.attrs) {
            syn::visit::visit_item_mod(self, module);
        }
    }

    /// A pattern creates no claim.
    fn visit_pat(&mut self, _: &'ast syn::Pat) {}

    fn visit_expr_binary(&mut self, binary: &'ast syn::ExprBinary) {
        // A comparison creates no claim.
        if !matches!(binary.op, syn::BinOp::Eq(_) | syn::BinOp::Ne(_)) {
            syn::visit::visit_expr_binary(self, binary);
        }
    }

    fn visit_expr_path(&mut self, expression: &'ast syn::ExprPath) {
        let names: Names = expression.path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        let variants = ["Optimal", "Feasible", "Infeasible", "Unknown"];
        if let [.., owner, name] = names.as_slice()
            && owner == "Claim"
            && variants.contains(&name.as_str())
        {
            self.found.push(names.join("::"));
        }
    }
}

fn rust_files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()) {
        if entry.is_dir() {
            rust_files(&entry, found);
        } else if entry.extension().is_some_and(|extension| extension == "rs") {
            found.push(entry);
        }
    }
}

/// Claims are drawn by the constructors of `Claim` only, from value, bound and capacity.
#[test]
fn claims_are_drawn_in_one_place() {
    let mut found = Vec::new();
    for (_, folder) in CRATES {
        let mut files = Vec::new();
        rust_files(&source(folder), &mut files);
        files.retain(|file| !file.ends_with("model/src/claim.rs") && !file.ends_with("tests.rs"));
        files.retain(|file| !file.components().any(|part| part.as_os_str() == "tests"));
        for file in files {
            let mut claims = Claims::default();
            claims.visit_file(&syn::parse_file(&fs::read_to_string(&file).unwrap()).unwrap());
            found.extend(claims.found.iter().map(|claim| format!("{}: {claim}", file.display())));
        }
    }
    assert!(found.is_empty(), "claims outside of model/src/claim.rs:\n{}", found.join("\n"));
}

#[test]
fn no_crate_depends_on_one_above_it() {
    for (at, (name, folder)) in CRATES.iter().enumerate() {
        let below: BTreeSet<&str> = CRATES[..at].iter().map(|(name, _)| *name).collect();
        for (path, module) in &Structure::read(&source(folder)).modules {
            for other in module.crates.iter().filter(|other| other != name) {
                assert!(below.contains(other.as_str()), "{name}: {} depends on {other}", file_name(path));
            }
        }
    }
}

/// Returns the modules of a crate (files and folders of `src`) in layers. Each module depends only on modules
/// in lower layers. Modules that depend on each other are joined by `=` in one layer.
fn layers(edges: &BTreeMap<Names, BTreeSet<Names>>) -> Vec<BTreeSet<String>> {
    let module = |path: &Names| path.first().cloned();
    let mut between: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (from, targets) in edges {
        let Some(from) = module(from) else { continue };
        let others = targets.iter().filter_map(module).filter(|to| *to != from);
        between.entry(from.clone()).or_default().extend(others);
    }
    let joined = cycles(&between);
    let name = |module: &String| {
        let cycle = joined.iter().find(|cycle| cycle.contains(module));
        cycle.map_or_else(|| module.clone(), |cycle| cycle.iter().cloned().collect::<Vec<_>>().join(" = "))
    };
    let mut needs: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (from, targets) in &between {
        let own = needs.entry(name(from)).or_default();
        own.extend(targets.iter().map(name));
        own.remove(&name(from));
    }
    let mut layers: Vec<BTreeSet<String>> = Vec::new();
    while !needs.is_empty() {
        let placed = |module: &String| layers.iter().any(|layer| layer.contains(module));
        let ready = needs.iter().filter(|(_, below)| below.iter().all(placed));
        let layer: BTreeSet<String> = ready.map(|(module, _)| module.clone()).collect();
        assert!(!layer.is_empty(), "cycles are joined");
        needs.retain(|module, _| !layer.contains(module));
        layers.push(layer);
    }
    layers
}

/// Returns one layer in lines of at most 110 columns.
fn layer_lines(at: usize, layer: &BTreeSet<String>) -> Vec<String> {
    let mut lines = vec![format!("  {at:>2}")];
    for module in layer {
        let last = lines.last_mut().expect("there is a first line");
        if last.len() + module.len() > 108 {
            lines.push(format!("      {module}"));
        } else {
            last.push_str("  ");
            last.push_str(module);
        }
    }
    lines
}

fn drawing() -> String {
    let mut lines = Vec::new();
    for (name, folder) in CRATES.iter().rev() {
        let structure = Structure::read(&source(folder));
        let named = |one: &&str| structure.modules.values().any(|module| module.crates.contains(*one));
        let needed: Vec<&str> = CRATES.iter().map(|(name, _)| *name).filter(named).collect();
        let needed = if needed.is_empty() { "no other".to_owned() } else { needed.join(", ") };
        let place = if *folder == "." { "src".to_owned() } else { format!("{folder}/src") };
        lines.push(format!("{name} ({place}) needs {needed}"));
        for (at, layer) in layers(&structure.dependencies()).iter().enumerate().rev() {
            lines.extend(layer_lines(at, layer));
        }
        lines.push(String::new());
    }
    lines.join("\n")
}

/// The ways of a buffer and of a row in ARCHITECTURE.md: their number of stations is limited, and every name
/// occurs in the file of its station.
#[test]
fn the_ways_are_short_and_exist() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let text = fs::read_to_string(root.join("ARCHITECTURE.md")).unwrap();
    for (way, most) in [("buffer", 8), ("row", 12)] {
        let (_, rest) = text.split_once(&format!("<!-- the way of a {way}: start -->")).unwrap();
        let (drawn, _) = rest.split_once("<!-- ").unwrap();
        let stations: Vec<&str> =
            drawn.lines().filter(|line| line.trim().starts_with(char::is_numeric)).collect();
        assert!((1..=most).contains(&stations.len()), "{way}: {} stations", stations.len());
        for station in stations {
            let path = station.split_whitespace().find(|word| word.contains('/')).unwrap();
            let files = [root.join(path), root.join("experiments/lab/src").join(path)];
            let code = files.iter().find_map(|file| fs::read_to_string(file).ok());
            let code = code.unwrap_or_else(|| panic!("no file {path}"));
            let (names, _) = station.split_once(path).unwrap();
            for name in names.split('`').skip(1).step_by(2) {
                assert!(code.contains(name), "{path} does not contain {name}");
            }
        }
    }
}

#[test]
fn the_drawing_matches_the_imports() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/ARCHITECTURE.md");
    let text = fs::read_to_string(path).unwrap();
    let (before, rest) = text.split_once(START).expect("ARCHITECTURE.md has the start marker");
    let (drawn, after) = rest.split_once(END).expect("ARCHITECTURE.md has the end marker");
    let now = format!("```text\n{}```\n", drawing());
    if std::env::var_os("PLIMSOLL_WRITE_DOCS").is_some() {
        fs::write(path, format!("{before}{START}{now}{END}{after}")).unwrap();
    } else {
        assert_eq!(drawn, now, "run PLIMSOLL_WRITE_DOCS=1 cargo test --test house to update ARCHITECTURE.md");
    }
}
