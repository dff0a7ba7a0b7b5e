//! Tests `datasets fetch` with a local server: correct, wrong, interrupted and missing files, and unreachable
//! hosts.

use crate::common::{Run, Scratch, command};
use plimsoll::datasets::{MANIFEST, Origin, minimalloc_five};
use plimsoll::model::csv::write_instance;
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// How the server answers.
#[derive(Clone, Copy, PartialEq)]
enum Manner {
    /// Supports range requests.
    Ranges,
    /// Always sends the whole file.
    Whole,
    /// Like `Ranges`, with a pause in the middle.
    Slow,
    /// Closes the connection after this many bytes.
    Torn(usize),
}

struct Server {
    address: String,
    files: Arc<Mutex<BTreeMap<String, Vec<u8>>>>,
    manner: Arc<Mutex<Manner>>,
    /// The requested paths and ranges.
    asked: Arc<Mutex<Vec<String>>>,
}

impl Server {
    fn new() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let made = Self {
            address,
            files: Arc::default(),
            manner: Arc::new(Mutex::new(Manner::Ranges)),
            asked: Arc::default(),
        };
        let (files, manner, asked) = (made.files.clone(), made.manner.clone(), made.asked.clone());
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (manner, asked) = (*manner.lock().unwrap(), asked.clone());
                let files = files.lock().unwrap().clone();
                // A client that closes the connection is not an error.
                std::thread::spawn(move || answer(&stream, &files, manner, &asked).ok());
            }
        });
        made
    }

    fn give(&self, path: &str, bytes: &[u8]) {
        self.files.lock().unwrap().insert(path.to_owned(), bytes.to_vec());
    }

    fn behave(&self, manner: Manner) {
        *self.manner.lock().unwrap() = manner;
    }

    fn asked(&self) -> Vec<String> {
        std::mem::take(&mut self.asked.lock().unwrap())
    }
}

fn answer(
    stream: &TcpStream,
    files: &BTreeMap<String, Vec<u8>>,
    manner: Manner,
    asked: &Mutex<Vec<String>>,
) -> std::io::Result<()> {
    let mut lines = BufReader::new(stream).lines();
    let request = lines.next().transpose()?.unwrap_or_default();
    let path = request.split(' ').nth(1).unwrap_or_default().to_owned();
    let mut from = 0;
    for line in lines {
        let line = line?.to_lowercase();
        if line.is_empty() {
            break;
        }
        if let Some(range) = line.strip_prefix("range: bytes=") {
            from = range.trim_end_matches('-').parse().unwrap_or(0);
        }
    }
    asked.lock().unwrap().push(format!("{path} from {from}"));
    let mut stream = stream;
    let Some(bytes) = files.get(&path) else {
        return write!(
            stream,
            "HTTP/1.1 404 Not Found\r\nContent-Length: 4\r\nConnection: close\r\n\r\nnone"
        );
    };
    let all = bytes.len();
    if from > 0 && manner != Manner::Whole {
        if from >= all {
            return write!(
                stream,
                "HTTP/1.1 416 Range Not Satisfiable\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
            );
        }
        write!(stream, "HTTP/1.1 206 Partial Content\r\nContent-Range: bytes {from}-{}/{all}\r\n", all - 1)?;
    } else {
        from = 0;
        write!(stream, "HTTP/1.1 200 OK\r\n")?;
    }
    write!(stream, "Content-Length: {}\r\nConnection: close\r\n\r\n", all - from)?;
    let until = if let Manner::Torn(bytes) = manner { (from + bytes).min(all) } else { all };
    if manner == Manner::Slow {
        let half = usize::midpoint(from, until);
        stream.write_all(&bytes[from..half])?;
        std::thread::sleep(Duration::from_millis(300));
        from = half;
    }
    stream.write_all(&bytes[from..until])
}

/// A small file of a corpus, which is also a worked example.
const SMALL: &str = "minimalloc/input.12.csv";

fn small() -> (String, Vec<u8>) {
    let corpus = MANIFEST.iter().find(|corpus| corpus.folder == "minimalloc").unwrap();
    let file = corpus.files.iter().find(|file| file.name == "input.12.csv").unwrap();
    let mut bytes = Vec::new();
    write_instance(&minimalloc_five().instance, &mut bytes).unwrap();
    (format!("/google/minimalloc/{}/{}", corpus.version, file.path), bytes)
}

/// Returns a scratch folder and a server with that file, or nothing if there is no curl.
fn served() -> Option<(Scratch, Server, String, Vec<u8>)> {
    if !Command::new("curl").arg("--version").output().is_ok_and(|run| run.status.success()) {
        eprintln!("skipped: there is no curl");
        return None;
    }
    let (server, (path, bytes)) = (Server::new(), small());
    server.give(&path, &bytes);
    let scratch = Scratch::new();
    std::fs::create_dir_all(scratch.path("corpora/minimalloc")).unwrap();
    Some((scratch, server, path, bytes))
}

/// The names of that file and of its incomplete copy in the folder of the corpora.
const FILE: &str = "corpora/minimalloc/input.12.csv";
const PART: &str = "corpora/minimalloc/input.12.csv.part";

fn fetch(scratch: &Scratch, server: &Server, words: &str) -> Run {
    scratch.run(format!("datasets fetch --to corpora --mirror {} {words}", server.address))
}

/// Asserts that a file has these bytes.
#[track_caller]
fn holds(scratch: &Scratch, name: &str, bytes: &[u8]) {
    assert_eq!(std::fs::read(scratch.path(name)).unwrap(), bytes);
}

#[test]
fn files_are_downloaded_once() {
    let Some((scratch, server, path, bytes)) = served() else { return };
    let run = fetch(&scratch, &server, SMALL).exits(0);
    assert_eq!(run.stdout, format!("fetched  {SMALL}\n1 fetched, 0 kept, 0 wrong, 0 failed\n"));
    holds(&scratch, FILE, &bytes);
    assert_eq!(server.asked(), [format!("{path} from 0")]);
    let run = fetch(&scratch, &server, SMALL).exits(0);
    assert_eq!(run.stdout, format!("kept     {SMALL}\n0 fetched, 1 kept, 0 wrong, 0 failed\n"));
    assert!(server.asked().is_empty());
    // A changed file is downloaded again.
    scratch.write(FILE, "changed");
    let json = fetch(&scratch, &server, &format!("{SMALL} --json")).exits(0).json();
    assert_eq!(json["files"][0]["fate"], "fetched");
    holds(&scratch, FILE, &bytes);
    assert!(!scratch.path(PART).exists());
}

#[test]
fn wrong_bytes_never_replace_a_file() {
    let Some((scratch, server, path, bytes)) = served() else { return };
    server.give(&path, b"id,lower,upper,size\nb1,0,3,5\n");
    scratch.write(FILE, "mine");
    let run = fetch(&scratch, &server, SMALL).exits(1);
    run.prints(&[&format!("wrong    {SMALL}: the download has SHA-256 ")]);
    run.warns(&["missing or different files: 1. To download them by hand"]);
    holds(&scratch, FILE, b"mine");
    assert!(!scratch.path(PART).exists());
    server.give(&path, &bytes);
    fetch(&scratch, &server, SMALL).exits(0);
}

#[test]
fn interrupted_downloads_resume() {
    let Some((scratch, server, path, bytes)) = served() else { return };
    server.behave(Manner::Torn(30));
    fetch(&scratch, &server, SMALL).exits(3).prints(&["ended the transfer early"]);
    holds(&scratch, PART, &bytes[..30]);
    assert!(!scratch.path(FILE).exists());
    server.asked();
    server.behave(Manner::Ranges);
    fetch(&scratch, &server, SMALL).exits(0);
    assert_eq!(server.asked(), [format!("{path} from 30")]);
    holds(&scratch, FILE, &bytes);
}

#[test]
fn useless_parts_are_discarded() {
    let (_, bytes) = small();
    // The earlier partial file has wrong bytes or too many bytes, or is complete. The last server sends only
    // whole files.
    let starts: [(&[u8], Manner); 4] = [
        (b"rubbish", Manner::Ranges),
        (&[b'x'; 4000], Manner::Ranges),
        (&bytes, Manner::Ranges),
        (&bytes[..10], Manner::Whole),
    ];
    for (start, manner) in starts {
        let Some((scratch, server, ..)) = served() else { return };
        server.behave(manner);
        scratch.write(PART, start);
        fetch(&scratch, &server, SMALL).exits(0);
        holds(&scratch, FILE, &bytes);
    }
}

#[test]
fn missing_files_are_reported() {
    let Some((scratch, server, ..)) = served() else { return };
    let run = fetch(&scratch, &server, "minimalloc").exits(3);
    run.prints(&["failed   minimalloc/A.1048576.csv: 127.0.0.1:", " does not serve the file: ", "404"]);
    // The only file that the server has is downloaded anyway.
    assert!(run.stdout.ends_with("1 fetched, 0 kept, 0 wrong, 11 failed\n"), "{}", run.stdout);
}

#[test]
fn several_processes_fetch_into_one_folder() {
    let Some((scratch, server, _, bytes)) = served() else { return };
    server.behave(Manner::Slow);
    // Three processes download the same file to the same folder.
    let start = || {
        let mut command = command(&scratch.path(""));
        command.args(["datasets", "fetch", "--to", "corpora", "--mirror", &server.address, SMALL]);
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    };
    let all = [start(), start(), start()];
    let runs = all.map(|child| Run::from(child.wait_with_output().unwrap()).exits(0));
    holds(&scratch, FILE, &bytes);
    let fetched = runs.iter().filter(|run| run.stdout.starts_with("fetched ")).count();
    assert_eq!((fetched, server.asked().len()), (1, 1));
}

#[test]
fn passwords_of_mirrors_are_not_printed() {
    let Some((scratch, server, ..)) = served() else { return };
    let mirror = server.address.replace("http://", "http://me:secret@");
    let run = scratch
        .run(format!("datasets fetch minimalloc/A.1048576.csv --to corpora --mirror {mirror}"))
        .exits(3);
    run.prints(&[" does not serve the file: "]);
    assert!(!run.stdout.contains("secret") && !run.stderr.contains("secret"), "{}", run.stdout);
}

#[test]
fn unreachable_hosts_are_contacted_once() {
    let Some((scratch, ..)) = served() else { return };
    // The port was just free, so nothing listens on it.
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let run = scratch.run(format!("datasets fetch minimalloc --to c --mirror http://{free}/")).exits(3);
    let first = format!("failed   minimalloc/A.1048576.csv: {free} could not be reached: ");
    assert!(run.stdout.starts_with(&first), "{}", run.stdout);
    assert_eq!(run.stdout.matches(&format!("{free} failed earlier\n")).count(), 11);
    run.warns(&["missing or different files: 12", "--dry-run"]);
}

#[test]
fn missing_clients_are_reported() {
    let scratch = Scratch::new();
    for (name, part) in [(SMALL, "curl: "), ("onnx/light_squeezenet.onnx", "python3: ")] {
        let mut command = command(&scratch.path(""));
        command.env("PATH", "").args(["datasets", "fetch", name, "--to", "corpora"]);
        Run::from(command.output().unwrap()).exits(3).prints(&[part]);
    }
}

#[test]
fn addresses_are_printed() {
    let scratch = Scratch::new();
    let run = scratch.ok("datasets fetch --dry-run");
    let count: usize = MANIFEST.iter().map(|corpus| corpus.files.len()).sum();
    assert_eq!(run.stdout.lines().count(), count);
    let version = MANIFEST.iter().find(|corpus| corpus.folder == "minimalloc").unwrap().version;
    let github = "https://raw.githubusercontent.com/google/minimalloc";
    run.prints(&[
        &format!("{SMALL}  {github}/{version}/benchmarks/examples/input.12.csv\n"),
        "pip download --no-deps onnx==1.23.1, file onnx/backend/test/data/light/",
    ]);
    assert!(!scratch.path("corpora").exists());
    let run = scratch.ok("datasets fetch --dry-run --mirror http://x:1/y/ onnx");
    run.prints(&["  http://x:1/y/onnx/1.23.1/onnx/backend/test/data/light/light_vgg19.onnx\n"]);
    let json = scratch.json(format!("datasets fetch --dry-run {SMALL}"));
    assert_eq!((json[0]["file"].as_str(), json.as_array().map(Vec::len)), (Some(SMALL), Some(1)));
}

#[test]
fn bad_requests_are_rejected() {
    let scratch = Scratch::new();
    scratch.refuses("datasets fetch", &["with --to DIR or PLIMSOLL_CORPORA"]);
    let why = ["unknown corpus or file 'minimalloc/Z.csv'", "dsa, idealloc, minimalloc, onnx, tflite"];
    scratch.refuses("datasets fetch minimalloc/Z.csv --to c", &why);
    let line = format!("datasets fetch {SMALL} --to");
    for mirror in ["", "http://", "http:///x", "file:///corpora", "example.org"] {
        let line = format!("{line} c --mirror '{mirror}'");
        scratch.refuses(line, &["expected http://HOST.. or https://HOST.."]);
    }
    scratch.write("file", "");
    let line = format!("{line} file --mirror http://127.0.0.1:9");
    scratch.refuses(line, &["cannot create the folder file/minimalloc"]);
}

/// Downloads all corpora from the test server; skipped if `PLIMSOLL_CORPORA` is not set.
#[test]
fn whole_corpora_are_downloaded_and_match_the_list() {
    let Some(root) = std::env::var_os("PLIMSOLL_CORPORA").filter(|root| !root.is_empty()) else {
        return eprintln!("skipped: PLIMSOLL_CORPORA is not set");
    };
    let Some((scratch, ..)) = served() else { return };
    let (server, mut missing) = (Server::new(), 0);
    for corpus in MANIFEST.iter() {
        let (Origin::Github(place) | Origin::Package(place)) = corpus.origin;
        for file in &corpus.files {
            match std::fs::read(std::path::Path::new(&root).join(corpus.folder).join(file.name)) {
                Ok(bytes) => server.give(&format!("/{place}/{}/{}", corpus.version, file.path), &bytes),
                Err(_) => missing += 1,
            }
        }
    }
    let run = fetch(&scratch, &server, "");
    assert!(run.stdout.ends_with(&format!(" 0 kept, 0 wrong, {missing} failed\n")), "{}", run.stdout);
    let mut verify = command(&scratch.path(""));
    verify.env("PLIMSOLL_CORPORA", scratch.path("corpora")).args(["datasets", "verify"]);
    assert_eq!(Run::from(verify.output().unwrap()).code, i32::from(missing > 0));
}
