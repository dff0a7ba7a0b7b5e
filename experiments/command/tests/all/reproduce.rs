//! Tests that the output of `plimsoll reproduce` changes with the inputs of every paper, and that skipped
//! parts are reported.

use crate::common::{Run, Scratch, TINY, command};
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
    let plain = patent::reproduce(&inputs, &context).unwrap();
    assert!(plain.holds() && plain.skipped.is_empty(), "{}", text(&plain));
    assert_eq!(
        (ours(&plain, "figure 5", "with sharing"), ours(&plain, "figure 5", "least")),
        ("46".to_owned(), "43".to_owned())
    );
    assert_eq!(figures(&plain), 3);

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
    let plain = cann::reproduce(&inputs, &context).unwrap();
    assert!(plain.holds(), "{}", text(&plain));
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
    let plain = mini_infer::reproduce(&inputs, &context).unwrap();
    assert!(plain.holds(), "{}", text(&plain));
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
    let plain = fusion::reproduce(&fusion::Inputs::default(), &context).unwrap();
    assert!(plain.holds(), "{}", text(&plain));
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
    let plain = luna::reproduce(&inputs, &context).unwrap();
    assert!(plain.holds(), "{}", text(&plain));
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
    let plain = pisarchyk_lee::reproduce(&inputs, &context).unwrap();
    assert!(plain.holds(), "{}", text(&plain));
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
    let plain = minimalloc::reproduce(&inputs, &context).unwrap();
    assert!(plain.holds() && figures(&plain) == 1, "{}", text(&plain));
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
fn with_corpora(scratch: &Scratch, words: &[&str], peer: Option<&str>) -> Run {
    let mut command = command(&scratch.path(""));
    command
        .env("COLUMNS", "1000")
        .env("PLIMSOLL_CORPORA", scratch.path("corpora"))
        .env_remove("PLIMSOLL_MINIMALLOC");
    if let Some(peer) = peer {
        command.env("PLIMSOLL_MINIMALLOC", scratch.path(peer));
    }
    Run::from(command.arg("reproduce").args(words).output().unwrap())
}

#[test]
fn instances_are_decided() {
    let scratch = Scratch::new();
    corpora(&scratch, "A.8.csv", TINY);
    let plain = with_corpora(&scratch, &["minimalloc", "--out", "out"], None).exits(0).stdout;
    assert!(plain.contains("skipped: instance B: no such file"), "{plain}");
    let rows = scratch.read("out/minimalloc/rows.csv");
    for line in [
        "A to K,\"A, buffers\",,3,",
        "A to K,\"A, load\",,8,",
        "A to K,\"A, at the capacity of the file\",fits,fits,",
        "A to K,\"A, least peak\",,8,",
    ] {
        assert!(rows.contains(&format!("minimalloc,{line}")), "{line}: {rows}");
    }
    assert!(scratch.path("out/minimalloc/times.svg").is_file());

    // The instance lacks two buffers.
    corpora(&scratch, "A.8.csv", "id,lower,upper,size\na,0,4,4\n");
    with_corpora(&scratch, &["minimalloc", "--out", "thin"], None).exits(0);
    let thin = scratch.read("thin/minimalloc/rows.csv");
    assert!(thin.contains("\"A, buffers\",,1,") && thin.contains("\"A, least peak\",,4,"), "{thin}");

    // The capacity is too small.
    corpora(&scratch, "A.7.csv", TINY);
    std::fs::remove_file(scratch.path("corpora/minimalloc/A.8.csv")).unwrap();
    let run = with_corpora(&scratch, &["minimalloc"], None).exits(1);
    assert!(
        run.stdout.contains("does not fit") && run.stderr.contains("1 row differs from the expected result")
    );
    // The file is not an instance.
    corpora(&scratch, "A.7.csv", "id,lower\nx,1\n");
    let run = with_corpora(&scratch, &["minimalloc"], None).exits(2);
    assert!(run.stderr.contains("A.7.csv"), "{}", run.stderr);
}

#[cfg(unix)]
#[test]
fn a_peer_is_compared_and_checked() {
    use std::os::unix::fs::PermissionsExt;
    let scratch = Scratch::new();
    corpora(&scratch, "A.8.csv", TINY);
    let peer = |name: &str, offsets: &str| {
        let script = format!(
            "#!/bin/sh\nfor word in \"$@\"; do case $word in --output=*) printf 'id,offset\\n{offsets}' > \"${{word#--output=}}\";; esac; done\necho 'Elapsed time 0.125s' >&2\n"
        );
        let path = scratch.write(name, script);
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
    };
    peer("good", "a,0\\nb,4\\nc,4\\n");
    let run = with_corpora(&scratch, &["minimalloc", "--verbose"], Some("good")).exits(0);
    assert!(
        run.stdout.contains("its answer: fits; whole process, same run; 0.125 s by its own clock"),
        "{}",
        run.stdout
    );
    peer("bad", "a,0\\nb,0\\nc,4\\n");
    let run = with_corpora(&scratch, &["minimalloc", "--verbose"], Some("bad")).exits(0);
    assert!(run.stdout.contains("the checker rejected its layout"), "{}", run.stdout);
    let run = with_corpora(&scratch, &["minimalloc"], Some("missing")).exits(0);
    assert!(run.stdout.contains("skipped: MiniMalloc itself:") && run.stdout.contains("is not a file"));
}

#[test]
fn all_papers_run_without_corpora() {
    let scratch = Scratch::new();
    let words = ["reproduce", "all", "--out", "out", "--time-limit", "600", "--seeds", "1"];
    let printed = scratch.plimsoll(&words).exits(0).stdout;
    let papers = ["luna", "mini-infer", "patent", "fusion", "cann", "pisarchyk-lee", "minimalloc"];
    let mut from = 0;
    for paper in papers {
        let at = printed[from..].find(&format!("{paper} (")).unwrap_or_else(|| panic!("{paper} is missing"));
        from += at;
        let rows = scratch.read(&format!("out/{paper}/rows.csv"));
        assert!(rows.starts_with("paper,table,row,printed,ours,difference,unit,verdict,reason\n"));
        assert!(rows.lines().skip(1).count() >= 3 && rows.contains(&format!("\n{paper},")), "{rows}");
        assert!(scratch.read(&format!("out/{paper}/report.md")).contains("## Printed and ours, row by row"));
    }
    let summary = scratch.read("out/summary.md");
    for part in [
        "- skipped: real models: PLIMSOLL_CORPORA is not set",
        "- skipped: the instances A to K",
        "| cann | S4 |",
    ] {
        assert!(summary.contains(part), "{part}: {summary}");
    }
    assert!(scratch.read("out/rows.csv").lines().count() > 200);
    for word in summary.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
        well_formed(word, &scratch.read(&format!("out/{word}")));
    }
    assert!(printed.contains("\npaper          source"), "{printed}");
}

#[test]
fn bad_arguments_are_rejected() {
    let scratch = Scratch::new();
    scratch
        .plimsoll(&["reproduce", "unknown"])
        .refuses(&["unknown paper 'unknown'", "minimalloc (Moffitt 2023)"]);
    scratch.write("file", "");
    scratch.plimsoll(&["reproduce", "patent", "--out", "file"]).refuses(&["cannot create the folder file"]);
    scratch.plimsoll(&["reproduce", "patent", "--seeds", "x"]).refuses(&["--seeds"]);
    scratch.plimsoll(&["reproduce", "luna", "--seeds", "0"]).refuses(&["--seeds"]);
    std::fs::create_dir(scratch.path("own")).unwrap();
    scratch.write("own/README.md", "mine");
    scratch
        .plimsoll(&["reproduce", "patent", "--out", "own"])
        .refuses(&["cannot write own: it is neither empty nor an earlier record of `reproduce`"]);
    assert_eq!(std::fs::read_dir(scratch.path("own")).unwrap().count(), 1);
    let run = scratch.plimsoll(&["reproduce", "patent", "--time-limit", "0"]).exits(3);
    assert!(
        run.stderr.contains("reuse-by-size on patent: nothing found within the limits"),
        "{}",
        run.stderr
    );
    scratch.plimsoll(&["reproduce", "patent", "--time-limit", "-1"]).refuses(&["--time-limit"]);
    let run = command(&scratch.path(""))
        .env("PLIMSOLL_CORPORA", scratch.path("nowhere"))
        .args(["reproduce", "patent"])
        .output();
    Run::from(run.unwrap()).refuses(&["PLIMSOLL_CORPORA: ", "is not a folder"]);
}

#[test]
fn the_duration_and_the_folder_are_printed() {
    let scratch = Scratch::new();
    let run = scratch.plimsoll(&["reproduce", "patent", "--out", "o"]).exits(0);
    let takes = "\nThis takes less than a second with the default limits.\n";
    assert!(run.stdout.contains(takes) && run.stderr.starts_with("plimsoll: done in "), "{}", run.stdout);
    assert!(run.stdout.ends_with("\nwritten to o: README.md lists the files\n"), "{}", run.stdout);
    // An earlier record is replaced, and so is that of an interrupted run, which has no README.
    scratch.plimsoll(&["reproduce", "patent", "--out", "o"]).exits(0);
    for name in ["README.md", "rows.csv", "summary.md"] {
        std::fs::remove_file(scratch.path("o").join(name)).unwrap();
    }
    scratch.plimsoll(&["reproduce", "patent", "--out", "o"]).exits(0);
}
