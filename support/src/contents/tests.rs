use super::inflate::crc32;
use super::*;
use miniz_oxide::deflate::compress_to_vec;

const CSV: &[u8] = b"id,lower,upper,size\na,0,7,13\nb,3,9,21\n";

/// Returns a member of a gzip file with these flags and header fields.
fn gzip(data: &[u8], flags: u8, fields: &[u8]) -> Vec<u8> {
    let mut file = vec![0x1f, 0x8b, 8, flags, 0, 0, 0, 0, 0, 3];
    file.extend(fields);
    file.extend(compress_to_vec(data, 6));
    file.extend(crc32(data).to_le_bytes());
    file.extend((data.len() as u32).to_le_bytes());
    file
}

/// An entry of an archive: its name, its flags, its method, and its bytes.
type Entry<'a> = (&'a str, u16, u16, &'a [u8]);

fn zip(entries: &[Entry<'_>]) -> Vec<u8> {
    let (mut file, mut directory) = (Vec::new(), Vec::new());
    for &(name, flags, method, data) in entries {
        let packed = if method == 8 { compress_to_vec(data, 6) } else { data.to_vec() };
        let at = file.len() as u32;
        let mut common = Vec::new();
        common.extend(flags.to_le_bytes());
        common.extend(method.to_le_bytes());
        common.extend([0; 4]);
        common.extend(crc32(data).to_le_bytes());
        common.extend((packed.len() as u32).to_le_bytes());
        common.extend((data.len() as u32).to_le_bytes());
        common.extend((name.len() as u16).to_le_bytes());
        common.extend([0; 2]);
        file.extend(b"PK\x03\x04\x14\0");
        file.extend(&common);
        file.extend(name.bytes());
        file.extend(packed);
        directory.extend(b"PK\x01\x02\x14\0\x14\0");
        directory.extend(&common);
        directory.extend([0; 10]);
        directory.extend(at.to_le_bytes());
        directory.extend(name.bytes());
    }
    let (start, count) = (file.len() as u32, entries.len() as u16);
    file.extend(&directory);
    file.extend(b"PK\x05\x06\0\0\0\0");
    file.extend(count.to_le_bytes());
    file.extend(count.to_le_bytes());
    file.extend((directory.len() as u32).to_le_bytes());
    file.extend(start.to_le_bytes());
    file.extend([0; 2]);
    file
}

fn of(name: &str, bytes: impl Into<Vec<u8>>) -> Result<Contents, ContentsError> {
    Contents::of(Path::new(name), bytes.into(), 1 << 20)
}

/// Returns the name and the bytes of the contents of a valid file.
fn opened(name: &str, bytes: Vec<u8>) -> (String, Vec<u8>) {
    let contents = of(name, bytes).unwrap();
    (contents.name.display().to_string(), contents.bytes)
}

fn refused(name: &str, bytes: impl Into<Vec<u8>>) -> String {
    of(name, bytes).unwrap_err().to_string()
}

#[test]
fn checksums_are_those_of_the_standard() {
    assert_eq!(crc32(b"123456789"), 0xcbf4_3926);
}

#[test]
fn gzip_files_are_decompressed() {
    let plain = ("d/a.csv".to_owned(), CSV.to_vec());
    assert_eq!(opened("d/a.csv.gz", gzip(CSV, 0, b"")), plain);
    assert_eq!(opened("d/a.csv.GZ", gzip(CSV, 8, b"name.csv\0")), plain);
    // An extra field, a name, a comment and a checksum of the header.
    let fields = b"\x03\0xyzname\0a comment\0\x12\x34";
    assert_eq!(opened("d/a.csv", gzip(CSV, 1 | 2 | 4 | 8 | 16, fields)), plain);
    let members = [gzip(&CSV[..9], 0, b""), gzip(b"", 0, b""), gzip(&CSV[9..], 0, b""), vec![0; 700]];
    assert_eq!(opened("d/a.csv.gz", members.concat()), plain);
    assert_eq!(opened("d/a.csv", CSV.to_vec()), plain);
    assert_eq!(name_of(Path::new("d/a.csv.gz")), Path::new("d/a.csv"));
}

#[test]
fn damaged_gzip_files_are_refused() {
    let whole = gzip(CSV, 8, b"a\0");
    for length in 3..whole.len() {
        assert!(of("a.csv.gz", &whole[..length]).is_err(), "the first {length} bytes");
    }
    // Some bits have no effect, such as those of unused codes. No other damage is overlooked.
    for at in 3..whole.len() {
        let mut damaged = whole.clone();
        damaged[at] ^= 0x10;
        assert!(of("a.csv.gz", damaged).map_or(true, |read| read.bytes == CSV), "byte {at}");
    }
    assert!(refused("a.csv.gz", [whole.clone(), b"trailing".to_vec()].concat()).contains("damaged gzip"));
    let other = gzip(b"x", 0, b"");
    let swapped = [&whole[..whole.len() - 8], &other[other.len() - 8..]].concat();
    assert!(refused("a.csv.gz", swapped).contains("the checksum differs"));
}

#[test]
fn contents_are_limited() {
    let zeros = vec![0; (1 << 20) + 1];
    let bomb = gzip(&zeros, 0, b"");
    assert!(bomb.len() < 2000);
    assert!(matches!(of("a.csv.gz", bomb.clone()), Err(ContentsError::Expands { kind: "gzip", .. })));
    let half = gzip(&zeros[..1 << 19], 0, b"");
    assert!(of("a.csv.gz", [half.clone(), half.clone()].concat()).is_ok());
    let twice = [half.clone(), half, gzip(b"0", 0, b"")].concat();
    assert!(matches!(of("a.csv.gz", twice), Err(ContentsError::Expands { .. })));
    let bomb = zip(&[("a.csv", 0, 8, &zeros)]);
    assert!(matches!(of("a.zip", bomb.clone()), Err(ContentsError::Expands { kind: "zip", .. })));
    // The stated size is smaller than the contents.
    let mut lies = zip(&[("a.csv", 0, 8, &zeros[1..])]);
    let at = lies.windows(4).rposition(|part| part == (1u32 << 20).to_le_bytes()).unwrap();
    lies[at..at + 4].copy_from_slice(&77u32.to_le_bytes());
    assert!(refused("a.zip", lies).contains("longer than its size"));
    assert_eq!(most(1000, FILE_LIMIT), EXPANDED_LEAST);
    assert_eq!(most(2 << 20, FILE_LIMIT), EXPANDED_TIMES * (2 << 20));
    assert_eq!(most(1 << 30, FILE_LIMIT), FILE_LIMIT);
    assert_eq!(most(u64::MAX, u64::MAX), u64::MAX);
}

#[test]
fn the_only_input_of_an_archive_is_unpacked() {
    let plain = ("d/a.csv".to_owned(), CSV.to_vec());
    assert_eq!(opened("d/x.zip", zip(&[("a.csv", 0, 8, CSV)])), plain);
    assert_eq!(opened("d/x.zip", zip(&[("in/", 0, 0, b""), ("in/a.csv", 0, 0, CSV)])), plain);
    let extras =
        [("README.md", 0, 8, &b"# read"[..]), ("__MACOSX/._a.csv", 0, 0, b"x"), ("a.csv", 0, 8, CSV)];
    assert_eq!(opened("d/x.zip", zip(&extras)), plain);
    let model = [("labels.json", 0, 0, &b"{}"[..]), ("m/net.TFLITE", 0, 8, b"\x1c\0\0\0TFL3")];
    assert_eq!(opened("x.zip", zip(&model)), ("net.TFLITE".to_owned(), b"\x1c\0\0\0TFL3".to_vec()));
    assert_eq!(opened("net", zip(&[("net", 0, 0, b"?")])), ("net".to_owned(), b"?".to_vec()));
}

#[test]
fn other_archives_are_refused_by_name() {
    for (entries, part) in [
        (&[("a.onnx", 0, 0, &b"1"[..]), ("b/b.onnx", 0, 0, b"2")][..], "several models: a.onnx, b/b.onnx"),
        (&[("a.csv", 0, 0, b"1"), ("b.json", 0, 0, b"2")], "several inputs: a.csv, b.json"),
        (&[("a.txt", 0, 0, b"1"), ("b.md", 0, 0, b"2")], "no model or instance among a.txt, b.md"),
        (&[("x/data.pkl", 0, 0, b"1"), ("x/version", 0, 0, b"2")], "torch.onnx.export"),
        (&[], "it contains no files"),
        (&[("a.csv", 1, 8, CSV)], "'a.csv' is encrypted"),
        (&[("a.csv", 0, 14, CSV)], "'a.csv' is compressed by method 14"),
        (&[("a.csv.gz", 0, 0, b"\x1f\x8b\x08\0")], "a compressed file inside a compressed file"),
    ] {
        let message = refused("x.zip", zip(entries));
        assert!(message.contains(part), "{message}");
    }
    let mut large = zip(&[("a.csv", 0, 0, CSV)]);
    let at = large.windows(4).position(|part| part == b"PK\x01\x02").unwrap();
    large[at + 24..at + 28].fill(0xff);
    assert!(refused("x.zip", large.clone()).contains("'a.csv' is a zip64 entry"));
    let end = large.windows(4).rposition(|part| part == b"PK\x05\x06").unwrap();
    large[end + 16..end + 20].fill(0xff);
    assert!(refused("x.zip", large).contains("zip64 archives are not supported"));
    assert!(refused("x.zip", &b"PK\x03\x04nothing"[..]).contains("it has no directory"));
}

#[test]
fn files_that_are_no_input_are_named() {
    let pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:0123\nsize 8315719\n";
    let bzip = b"BZh91AY&SY\x01\x02".to_vec();
    let tar = [vec![b'a'; 257], b"ustar\x0000".to_vec()].concat();
    for (name, bytes, parts) in [
        ("net.onnx", pointer.into(), &["a Git LFS pointer to a file of 8315719 bytes", "`git lfs pull`"][..]),
        ("net.csv", b"\xef\xbb\xbf\n<!DOCTYPE HTML>\n<html>".to_vec(), &["an HTML page", "raw file"]),
        ("net.tflite", b"<?xml version=\"1.0\"?>\n<html xmlns=\"x\">".to_vec(), &["an HTML page"]),
        (
            "a.mlir",
            b"// a comment\nmodule @m attributes {x.y = 1} {\n".to_vec(),
            &["MLIR", "CSV (id, offset)"],
        ),
        ("a.txt", b"#map = affine_map<(d0) -> (d0)>\nmodule {\n".to_vec(), &["MLIR"]),
        ("a", b"\"builtin.module\"() ({\n".to_vec(), &["MLIR"]),
        ("a.pto", b"pto.alloc_tile\n".to_vec(), &["MLIR"]),
        ("a.csv", bzip, &["compressed by bzip2", "decompress it first"]),
        ("a.csv", tar, &["a tar archive"]),
        ("a.csv", b"\x28\xb5\x2f\xfd....".to_vec(), &["compressed by Zstandard"]),
        ("a.gguf", b"GGUF\x03\0\0\0".to_vec(), &["a GGUF file"]),
    ] {
        let message = refused(name, bytes.clone());
        assert!(parts.iter().all(|part| message.contains(part)), "{name}: {message}");
        // The same is true inside a compressed file.
        assert!(matches!(of(name, gzip(&bytes, 0, b"")), Err(ContentsError::Foreign { .. })), "{name}");
    }
    for (name, text) in [
        ("a.mlir", "warning: x\n// -----// IR Dump Before LayoutSlicesPass //----- //\nmodule {\n"),
        ("a.csv", "module,lower,upper,size\n"),
        ("a.csv", "id,lower,upper,size\n<html>,0,1,2\n"),
        ("a.json", "{ \"version\": \"https://git-lfs.github.com/spec/v1\" }"),
        ("a.csv", ""),
    ] {
        assert_eq!(opened(name, text.into()), (name.to_owned(), text.as_bytes().to_vec()));
    }
}

/// Mutated files never cause a panic, nor contents above the limit.
#[test]
fn mutated_files_are_refused_or_read_within_the_limit() {
    let seeds = [
        gzip(CSV, 8, b"a.csv\0"),
        [gzip(CSV, 0, b""), gzip(CSV, 0, b"")].concat(),
        zip(&[("a.csv", 0, 8, CSV), ("b.txt", 0, 0, b"note")]),
        zip(&[("d/net.onnx", 0, 0, &[8, 7])]),
    ];
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut random = |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 33) as usize % below
    };
    for _ in 0..20_000 {
        let mut data = seeds[random(seeds.len())].clone();
        for _ in 0..=random(4) {
            let at = random(data.len());
            match random(4) {
                0 => data.truncate(at.max(4)),
                1 => data[at] = 0xff,
                2 => drop(data.drain(at..(at + random(9)).min(data.len()))),
                _ => data[at] ^= 1 << random(8),
            }
            if data.is_empty() {
                break;
            }
        }
        if let Ok(contents) = Contents::of(Path::new("x.zip"), data.clone(), 100) {
            assert!(contents.bytes.len() <= 100 || contents.bytes == data);
        }
    }
}
