//! Tests that the output of `plimsoll reproduce` changes with the inputs of every paper, and that skipped
//! parts are reported.

use crate::common::{Run, Scratch, TINY, command, contains};
use plimsoll::run::Limits;
use plimsoll_model::{Buffer, BufferId, Bytes, Instance, InstanceBuilder, Layout, Lifespan};
use plimsoll_papers::{Amount, Context, Params, Reproduction, Row, Verdict, write_rows};
use plimsoll_papers::{cann, fusion, luna, mini_infer, minimalloc, patent, pisarchyk_lee};
use std::time::Duration;

/// Returns a context with a node limit that keeps tests short on any machine.
fn brief(registry: &plimsoll::Registry) -> Context<'_> {
    let time = Some(Duration::from_secs(600));
    Context { limits: Limits { time, nodes: Some(2000), ..Limits::default() }, ..Context::new(registry) }
}

/// Asserts that a reproduction gives the expected rows.
#[track_caller]
fn held<E: std::fmt::Debug>(found: Result<Reproduction, E>) -> Reproduction {
    let found = found.unwrap();
    assert!(found.holds(), "{}", text(&found));
    found
}

fn text(found: &Reproduction) -> String {
    let mut text = Vec::new();
    write_rows(found.rows.iter().map(|row| ("p", row)), &mut text).unwrap();
    String::from_utf8(text).unwrap()
}

/// Returns parameters of a generated family.
fn params<const N: usize>(params: [(&str, u64); N]) -> Params {
    params.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

/// Returns the first row whose table and name contain these strings.
#[track_caller]
fn row<'a>(found: &'a Reproduction, table: &str, name: &str) -> &'a Row {
    let row = found.rows.iter().find(|row| row.table.contains(table) && row.row.contains(name));
    row.unwrap_or_else(|| panic!("no row {table}: {name}\n{}", text(found)))
}

fn ours(found: &Reproduction, table: &str, name: &str) -> String {
    row(found, table, name).ours.as_ref().map_or_else(|| "none".to_owned(), ToString::to_string)
}

/// Checks that every figure is a well-formed SVG, and returns their number.
fn figures(found: &Reproduction) -> usize {
    let pictures = found.files.iter().filter(|file| file.is_figure());
    pictures.clone().for_each(|file| well_formed(&file.name, &String::from_utf8_lossy(&file.content)));
    assert!(pictures.clone().all(|file| !file.about.is_empty()));
    pictures.count()
}

fn well_formed(name: &str, text: &str) {
    assert!(text.starts_with("<svg ") && text.trim_end().ends_with("</svg>"), "{name}");
    assert!(!text.contains("NaN") && !text.contains("inf\""), "{name}");
    let mut open = Vec::new();
    for part in text.split('<').skip(1) {
        let tag = part.split('>').next().unwrap();
        match tag.strip_prefix('/') {
            Some(closed) => assert_eq!(open.pop(), Some(closed), "{name}: {tag}"),
            None if tag.ends_with('/') => {}
            None => open.push(tag.split_whitespace().next().unwrap()),
        }
    }
    assert!(open.is_empty(), "{name}: {open:?}");
}

/// Returns the example of the patent, with another size for one operator.
fn resized(instance: &Instance, operator: usize, size: u64) -> Instance {
    let conflict = |a: usize, b: usize| instance.conflict(BufferId::at(a), BufferId::at(b));
    let pairs = (0..instance.len()).flat_map(|b| (0..b).map(move |a| (a, b)));
    let edges: Vec<_> = pairs.filter(|&(a, b)| conflict(a, b)).collect();
    let buffers = instance.buffers().iter().enumerate().map(|(at, buffer)| {
        let size = if at == operator { Bytes::new(size) } else { buffer.size() };
        (buffer.name().to_owned(), size)
    });
    Instance::from_conflicts("patent", buffers, edges).unwrap()
}

#[test]
fn the_patent_depends_on_its_sizes_its_graph_and_its_figure() {
    let registry = plimsoll::registry();
    let context = Context::new(&registry);
    let inputs = patent::Inputs::default();
    let plain = held(patent::reproduce(&inputs, &context));
    assert_eq!(["with sharing", "least"].map(|name| ours(&plain, "figure 5", name)), ["46", "43"]);
    assert_eq!((plain.skipped.len(), figures(&plain)), (0, 3));

    let instance = resized(&inputs.instance, 4, 9);
    let larger = patent::reproduce(&patent::Inputs { instance, ..inputs.clone() }, &context).unwrap();
    assert_eq!(ours(&larger, "figure 5", "no sharing"), "76");
    assert_ne!(ours(&larger, "table 2", "order"), ours(&plain, "table 2", "order"));
    assert!(!larger.holds() && row(&larger, "figure 5", "with sharing").verdict() == Verdict::Unexpected);
    let pictures =
        |found: &Reproduction| found.files.iter().map(|file| file.content.clone()).collect::<Vec<_>>();
    assert!(pictures(&larger).iter().zip(&pictures(&plain)).all(|(a, b)| a != b));

    let other = patent::Inputs { graph: inputs.listed.clone(), ..inputs.clone() };
    let other = patent::reproduce(&other, &context).unwrap();
    assert_eq!(row(&other, "table 1", "operator 6").verdict(), Verdict::Unexpected, "{}", text(&other));

    let mut steps = inputs.steps.clone();
    steps[7].memory = 47;
    let slipped = patent::reproduce(&patent::Inputs { steps, ..inputs }, &context).unwrap();
    assert_eq!(slipped.count(Verdict::Unexpected), 1);
    assert!(text(&slipped).contains("memory once operator 5 is placed,47,46,-1,M,UNEXPECTED"));
}

#[test]
fn the_graph_engine_depends_on_its_example_and_its_models() {
    let registry = plimsoll::registry();
    let context = brief(&registry);
    let mut inputs = cann::Inputs::default();
    inputs.networks.truncate(1);
    inputs.settings =
        vec![cann::Setting { name: "short".to_owned(), params: params([("layers", 2), ("weights", 1)]) }];
    let plain = held(cann::reproduce(&inputs, &context));
    assert_eq!(ours(&plain, "worked", "Max-block"), "6656");
    assert_eq!(figures(&plain), 4);

    let mut larger = inputs.clone();
    larger.settings[0].params.insert("layers".to_owned(), 3);
    let larger = cann::reproduce(&larger, &context).unwrap();
    assert_ne!(ours(&larger, "3.3", "before; short"), ours(&plain, "3.3", "before; short"));

    let buffers = inputs.worked.instance.buffers().iter().map(|buffer| {
        let size = if buffer.name() == "E" { Bytes::new(8192) } else { buffer.size() };
        Buffer::new(buffer.name(), size, buffer.lifespan().clone())
    });
    let mut other = inputs.clone();
    other.worked.instance = InstanceBuilder::new("cann").buffers(buffers).build().unwrap();
    other.networks[0].after = 30.0;
    let other = cann::reproduce(&other, &context).unwrap();
    assert_eq!(ours(&other, "worked", "Max-block"), (8192 + 2048 + 512).to_string());
    assert_eq!(row(&other, "3.3", "LLaMA-13B, saving").verdict(), Verdict::Unexpected, "{}", text(&other));
}

#[test]
fn shared_objects_depend_on_alignment_network_and_report() {
    let registry = plimsoll::registry();
    let context = brief(&registry);
    let inputs =
        mini_infer::Inputs { families: vec![("lenet5".to_owned(), params([]))], ..Default::default() };
    let plain = held(mini_infer::reproduce(&inputs, &context));
    assert_eq!(ours(&plain, "claim", "lenet5"), "28.02");
    assert!(plain.skipped[0].contains("PLIMSOLL_CORPORA is not set"));
    assert_eq!(figures(&plain), 2);
    let changed = [
        mini_infer::Inputs { alignment: 65_536, ..inputs.clone() },
        mini_infer::Inputs { families: vec![("resnet18".to_owned(), params([]))], ..inputs.clone() },
    ];
    for changed in changed {
        let found = mini_infer::reproduce(&changed, &context).unwrap();
        assert_ne!(ours(&found, "claim", "saving on"), "28.02");
    }
    let mut other = inputs;
    other.sample.memory.1 = 1537.0;
    let other = mini_infer::reproduce(&other, &context).unwrap();
    // The unexpected rows are the sum of the shared objects and the saving.
    assert_eq!(other.count(Verdict::Unexpected), 2, "{}", text(&other));
}

#[test]
fn fusion_depends_on_its_tables_and_its_networks() {
    let registry = plimsoll::registry();
    let context = Context::new(&registry);
    let plain = held(fusion::reproduce(&fusion::Inputs::default(), &context));
    assert_eq!(figures(&plain), 2);
    let mut other = fusion::Inputs::default();
    other.seconds[1].inference[3] = 7.544;
    other.subgraphs[0].after = 20;
    other.yolov5s = params([("release", 5)]);
    other.vgg16 = params([("classifier", 1)]);
    let other = fusion::reproduce(&other, &context).unwrap();
    assert_eq!(ours(&other, "table 2", "YOLOv5s, speed-up of inference"), "2.00");
    assert!(row(&other, "4.2", "YOLOX-Nano, coverage").reason.contains("would be 50 fewer"));
    assert_eq!(ours(&other, "YOLOv5s", "groups of Conv"), "59");
    assert_eq!(ours(&plain, "YOLOv5s", "groups of Conv"), "57");
    assert_ne!(ours(&other, "VGG16", "before"), "31");
    assert!(!other.holds());
}

#[test]
fn merging_and_overlap_depend_on_their_tables() {
    let registry = plimsoll::registry();
    let context = Context { seeds: 0, ..brief(&registry) };
    let inputs = luna::Inputs::default();
    let plain = held(luna::reproduce(&inputs, &context));
    assert_eq!(row(&plain, "abstract", "merging").verdict(), Verdict::Same);
    assert!(figures(&plain) >= 10);
    let mut other = inputs;
    other.tables[3].after = Some([460_800, 460_800, 500_000]);
    other.tables.remove(0);
    other.times[0].overlapped = 1_205_707;
    let other = luna::reproduce(&other, &context).unwrap();
    assert_eq!(ours(&other, "abstract", "merging"), "17.33");
    assert_eq!(ours(&other, "abstract", "ping-pong"), "50.00");
    assert_eq!(row(&other, "table 3", "FaceAlign, gain").verdict(), Verdict::Unexpected);
    assert!(other.rows.iter().all(|row| row.table != "table 1" || !row.row.starts_with("FaceDetect")));
    let figure = |found: &Reproduction| {
        found.files.iter().find(|file| file.name == "figure-5-printed.svg").map(|file| file.content.clone())
    };
    assert_ne!(figure(&other), figure(&plain));
}

fn none_but(family: &str) -> pisarchyk_lee::Inputs {
    let (name, family) = (family.to_owned(), family.to_owned());
    let network = pisarchyk_lee::Network { name, family, params: params([]) };
    pisarchyk_lee::Inputs { networks: vec![network], ..Default::default() }
}

#[test]
fn strategies_depend_on_their_networks() {
    let registry = plimsoll::registry();
    let context = brief(&registry);
    let network = |params| {
        let (name, family) = ("a network".to_owned(), "lenet5".to_owned());
        pisarchyk_lee::Network { name, family, params }
    };
    let inputs = pisarchyk_lee::Inputs { networks: vec![network(params([]))], ..Default::default() };
    let plain = held(pisarchyk_lee::reproduce(&inputs, &context));
    let name = "a network (generated), shared-greedy-by-size-improved";
    assert_eq!(ours(&plain, "worked example, offsets", "greedy-by-size"), "124");
    assert_eq!(ours(&plain, "worked example, objects", "lower bound"), "128");
    assert!(plain.skipped.iter().any(|line| line.contains("PLIMSOLL_CORPORA is not set")));
    assert_eq!(figures(&plain), 4);

    let twice = pisarchyk_lee::Inputs { networks: vec![network(params([("batch", 2)]))], ..inputs.clone() };
    let twice = pisarchyk_lee::reproduce(&twice, &context).unwrap();
    let number = |found| ours(found, "models, objects", name).parse::<u64>().unwrap();
    assert_eq!(number(&twice), 2 * number(&plain));

    let mut other = inputs;
    let longer = Buffer::new("t8", 100_u64, Lifespan::single(0_u64, 9_u64).unwrap());
    let all = other.worked.instance.buffers().iter().cloned().chain([longer]);
    other.worked.instance = InstanceBuilder::new("w").buffers(all).build().unwrap();
    other.times_less = 1.0;
    let other = pisarchyk_lee::reproduce(&other, &context).unwrap();
    assert_eq!(ours(&other, "worked example, offsets", "greedy-by-size"), "224");
    assert_eq!(row(&other, "abstract", "naive over").printed, Some(Amount::Decimal(1.0, 1)));

    // An unknown family in the input is reported.
    let mut none = none_but("no-such");
    none.networks[0].name = "X".to_owned();
    let none = pisarchyk_lee::reproduce(&none, &context).unwrap();
    assert!(none.skipped.iter().any(|line| line == "X: no family 'no-such' generates it"));
    assert_eq!(ours(&none, "models, offsets", "lenet5, greedy-by-size"), "37632");
    // A strategy that reaches its limit is not an error.
    let short = Context { limits: Limits { nodes: Some(4), ..Limits::default() }, ..Context::new(&registry) };
    let short = pisarchyk_lee::reproduce(&none_but("lenet5"), &short).unwrap();
    assert_eq!(row(&short, "models, objects", "lenet5").verdict(), Verdict::Own);
    assert!(text(&short).contains("nothing within the limit"), "{}", text(&short));
}

#[test]
fn the_front_page_is_checked() {
    let registry = plimsoll::registry();
    let context = Context::new(&registry);
    let inputs = minimalloc::Inputs::default();
    let plain = held(minimalloc::reproduce(&inputs, &context));
    assert_eq!(figures(&plain), 1);
    let mut other = inputs.clone();
    other.example.layout = Some(Layout::from_raw([8, 8, 4, 4, 1]));
    let other = minimalloc::reproduce(&other, &context).unwrap();
    assert_eq!(ours(&other, "front page", "layout printed"), "refused");
    let mut other = inputs;
    other.example.instance = other.example.instance.with_capacity(Some(Bytes::new(11)));
    let other = minimalloc::reproduce(&other, &context).unwrap();
    assert_eq!(row(&other, "front page", "least peak").verdict(), Verdict::Unexpected, "{}", text(&other));
}

/// Creates a corpora folder with one instance.
fn corpora(scratch: &Scratch, file: &str, text: &str) {
    std::fs::create_dir_all(scratch.path("corpora/minimalloc")).unwrap();
    scratch.write(&format!("corpora/minimalloc/{file}"), text);
}

/// Runs `reproduce` with these corpora, and optionally with a peer.
fn with_corpora(scratch: &Scratch, line: &str, peer: Option<&str>) -> Run {
    let mut command = command(&scratch.path(""));
    command.env("COLUMNS", "1000").env("PLIMSOLL_CORPORA", scratch.path("corpora"));
    command.env_remove("PLIMSOLL_MINIMALLOC");
    command.envs(peer.map(|peer| ("PLIMSOLL_MINIMALLOC", scratch.path(peer))));
    Run::from(command.arg("reproduce").args(line.split(' ')).output().unwrap())
}

#[test]
fn instances_are_decided() {
    let scratch = Scratch::new();
    corpora(&scratch, "A.8.csv", TINY);
    let run = with_corpora(&scratch, "minimalloc --out out", None).exits(0);
    run.prints(&["skipped: instance B: no such file"]);
    let rows = scratch.read("out/minimalloc/rows.csv");
    for (row, cells) in [
        ("buffers", ",3,"),
        ("load", ",8,"),
        ("at the capacity of the file", "fits,fits,"),
        ("least peak", ",8,"),
    ] {
        contains(&rows, &[&format!("minimalloc,A to K,\"A, {row}\",{cells}")]);
    }
    assert!(scratch.path("out/minimalloc/times.svg").is_file());
    // The instance lacks two buffers.
    corpora(&scratch, "A.8.csv", "id,lower,upper,size\na,0,4,4\n");
    with_corpora(&scratch, "minimalloc --out thin", None).exits(0);
    let thin = scratch.read("thin/minimalloc/rows.csv");
    contains(&thin, &["\"A, buffers\",,1,", "\"A, least peak\",,4,"]);
    // The capacity is too small.
    corpora(&scratch, "A.7.csv", TINY);
    std::fs::remove_file(scratch.path("corpora/minimalloc/A.8.csv")).unwrap();
    let run = with_corpora(&scratch, "minimalloc", None).exits(1);
    run.prints(&["does not fit"]).warns(&["1 row differs from the expected result"]);
    // The file is not an instance.
    corpora(&scratch, "A.7.csv", "id,lower\nx,1\n");
    with_corpora(&scratch, "minimalloc", None).exits(2).warns(&["A.7.csv"]);
}

#[cfg(unix)]
#[test]
fn a_peer_is_compared_and_checked() {
    use std::os::unix::fs::PermissionsExt;
    let scratch = Scratch::new();
    corpora(&scratch, "A.8.csv", TINY);
    for (name, offsets, part) in [
        ("good", "4", "its answer: fits; whole process, same run; 0.125 s by its own clock"),
        ("bad", "0", "the checker rejected its layout"),
    ] {
        let script = format!(
            "#!/bin/sh\nfor word in \"$@\"; do case $word in --output=*) printf 'id,offset\\na,0\\nb,{offsets}\\nc,4\\n' > \"${{word#--output=}}\";; esac; done\necho 'Elapsed time 0.125s' >&2\n"
        );
        let path = scratch.write(name, script);
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
        with_corpora(&scratch, "minimalloc --verbose", Some(name)).exits(0).prints(&[part]);
    }
    let run = with_corpora(&scratch, "minimalloc", Some("missing")).exits(0);
    run.prints(&["skipped: MiniMalloc itself:", "is not a file"]);
}

#[test]
fn all_papers_run_without_corpora() {
    let scratch = Scratch::new();
    let printed = scratch.ok("reproduce all --out out --time-limit 600 --seeds 1").stdout;
    let papers = ["luna", "mini-infer", "patent", "fusion", "cann", "pisarchyk-lee", "minimalloc"];
    let mut from = 0;
    for paper in papers {
        let at = printed[from..].find(&format!("{paper} (")).unwrap_or_else(|| panic!("{paper} is missing"));
        from += at;
        let rows = scratch.read(&format!("out/{paper}/rows.csv"));
        assert!(rows.starts_with("paper,table,row,printed,ours,difference,unit,verdict,reason\n"));
        assert!(rows.lines().skip(1).count() >= 3 && rows.contains(&format!("\n{paper},")), "{rows}");
        contains(&scratch.read(&format!("out/{paper}/report.md")), &["## Printed and ours, row by row"]);
    }
    assert!(scratch.read("out/rows.csv").lines().count() > 200);
    let summary = scratch.read("out/summary.md");
    contains(&summary, &["- skipped: real models: PLIMSOLL_CORPORA is not set", "| cann | S4 |"]);
    contains(&summary, &["- skipped: the instances A to K"]);
    for word in summary.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
        well_formed(word, &scratch.read(&format!("out/{word}")));
    }
    // Without corpora, merging branches is compared with the optimum on generated graphs and small cases.
    // Every plan has passed both checkers.
    let report = scratch.read("out/luna/report.md");
    contains(&report, &["generated graphs stand in", "The best gain is 5.88 % (FusionDetect)"]);
    contains(&report, &["The synchronous time of BodyDetect equals the ping-pong time of FaceAlign"]);
    let compared = scratch.read("out/luna/comparison.csv");
    contains(&compared, &["fusion-trunk-handed", "two-branches-in-a-row,", "unbalanced-if-ratio-16-"]);
    contains(&compared, &["loops-loops-2-", "control-mix-operators-40-"]);
    assert_eq!(scratch.read("out/luna/table-3-splits.csv").lines().count(), 6);
    contains(&scratch.read("out/luna/table-3.csv"), &["\nFaceAlign,lenet5-0,"]);
    contains(&scratch.read("out/luna/table-3-startup.csv"), &["\nlenet5-0,20000000,"]);
    let figures = ["1b", "1c", "1d", "2", "5", "5-printed", "6a-conflict", "6a-in-turn"];
    for figure in figures.into_iter().chain(["6b-merged", "6c-optimum", "startup"]) {
        well_formed(figure, &scratch.read(&format!("out/luna/figure-{figure}.svg")));
    }
    let record = scratch.read("out/README.md");
    contains(&record, &["- seed 0, 600 s per run", "| `luna/comparison.csv` |", "commit "]);
}

#[test]
fn bad_arguments_are_rejected() {
    let scratch = Scratch::with("file", "");
    std::fs::create_dir(scratch.path("own")).unwrap();
    scratch.write("own/README.md", "mine");
    for (line, why) in [
        (
            "S9",
            "unknown paper 'S9' (known: all, luna (S0), mini-infer (S1), patent (S2), fusion (S3), cann (S4), pisarchyk-lee (Pisarchyk, Lee 2020), minimalloc (Moffitt 2023))",
        ),
        ("patent --out file", "cannot create the folder file"),
        ("patent --seeds x", "--seeds"),
        ("luna --seeds 0", "--seeds"),
        ("patent --out own", "cannot write own: it is neither empty nor an earlier record of `reproduce`"),
        ("patent --time-limit -1", "--time-limit"),
    ] {
        scratch.refuses(format!("reproduce {line}"), &[why]);
    }
    assert_eq!(std::fs::read_dir(scratch.path("own")).unwrap().count(), 1);
    let run = scratch.run("reproduce patent --time-limit 0").exits(3);
    run.warns(&["reuse-by-size on patent: nothing found within the limits"]);
    let run = with_corpora(&scratch, "patent", None);
    run.refuses(&["PLIMSOLL_CORPORA: ", "is not a folder"]);
}

#[test]
fn the_duration_and_the_folder_are_printed() {
    let scratch = Scratch::new();
    // A paper has a short name too.
    let run = scratch.ok("reproduce S2 --out o --verbose");
    let takes = "\nThis takes less than a second with the default limits.\n";
    run.prints(&[takes, "memory once operator 4"]);
    assert!(run.stderr.starts_with("plimsoll: done in "), "{}", run.stderr);
    assert!(run.stdout.ends_with("\nwritten to o: README.md lists the files\n"), "{}", run.stdout);
    contains(&scratch.read("o/README.md"), &["    plimsoll reproduce S2 --out o --verbose\n"]);
    // An earlier record is replaced, and so is that of an interrupted run, which has no README.
    scratch.ok("reproduce patent --out o");
    for name in ["README.md", "rows.csv", "summary.md"] {
        std::fs::remove_file(scratch.path("o").join(name)).unwrap();
    }
    scratch.ok("reproduce patent --out o");
}
