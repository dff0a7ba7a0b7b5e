//! Written files are read back unchanged, whatever their line endings, byte order mark, column order and
//! column names.

use plimsoll_model::csv::{
    Endpoints, ReadOptions, read_instance, read_instance_file, read_layout, write_instance, write_layout,
};
use plimsoll_model::{Buffer, Bytes, Instance, InstanceBuilder, Layout, Lifespan};
use plimsoll_support::files::write_atomically;
use proptest::prelude::*;
use std::io::ErrorKind;

/// A pattern for ids with all characters that are difficult in CSV and in lists of ids.
const NAMES: &str = "[a-c%,;\"'@2-5é\u{a0}]([a-c \t\n\r,\"%0-9é-]{0,4}[a-c%,\"é0-9])?";

fn written(instance: &Instance) -> String {
    let mut bytes = Vec::new();
    write_instance(instance, &mut bytes).unwrap();
    String::from_utf8(bytes).unwrap()
}

fn read(text: &str) -> Instance {
    read_instance("t", text.as_bytes(), ReadOptions::default()).unwrap()
}

/// Splits simple CSV text, without quotes, into fields.
fn fields(text: &str) -> Vec<Vec<String>> {
    text.lines().map(|line| line.split(',').map(str::to_owned).collect()).collect()
}

proptest! {
    #[test]
    fn an_instance_survives(instance in crate::common::instance(8, 20, 50, NAMES)) {
        prop_assume!(instance.buffers().iter().all(|b| b.name().trim() == b.name()));
        prop_assert_eq!(read(&written(&instance)), instance);
    }

    #[test]
    fn a_layout_survives(
        instance in crate::common::instance(8, 20, 50, NAMES),
        offsets in proptest::collection::vec(any::<u64>(), 8),
    ) {
        prop_assume!(instance.buffers().iter().all(|b| b.name().trim() == b.name()));
        let layout = Layout::from_raw(offsets.into_iter().take(instance.len()));
        let mut bytes = Vec::new();
        write_layout(&instance, &layout, &mut bytes).unwrap();
        prop_assert_eq!(read_layout("t", bytes.as_slice(), &instance).unwrap(), layout);
    }

    #[test]
    fn line_ends_marks_and_blanks_do_not_matter(instance in crate::common::instance(8, 20, 50, "[a-z]{1,3}")) {
        let text = written(&instance);
        prop_assert_eq!(&read(&text.replace('\n', "\r\n")), &instance);
        prop_assert_eq!(&read(&format!("\u{feff}{text}")), &instance);
        prop_assert_eq!(&read(&text.replace('\n', "\n\n  \n")), &instance);
        prop_assert_eq!(&read(&text.replace(',', " ,\t")), &instance);
        prop_assert_eq!(&read(text.trim_end()), &instance);
    }

    #[test]
    fn columns_come_in_any_order_under_any_name(
        instance in crate::common::instance(8, 20, 50, "[a-z]{1,3}"),
        order in Just((0..10usize).collect::<Vec<_>>()).prop_shuffle(),
        id in 0..3usize,
        lower in 0..3usize,
        inclusive: bool,
    ) {
        let mut rows = fields(&written(&instance));
        rows[0][0] = ["id", "buffer", "buffer_id"][id].to_owned();
        rows[0][1] = ["lower", "begin", "start"][lower].to_owned();
        if inclusive {
            let gaps = rows[0].iter().position(|name| name == "gaps");
            rows[0][2] = "end".to_owned();
            let one_less = |number: &str| (number.parse::<u64>().unwrap() - 1).to_string();
            for row in &mut rows[1..] {
                row[2] = one_less(&row[2]);
                if let Some(at) = gaps {
                    let parts = row[at].split_whitespace().map(|gap| {
                        let (from, to) = gap.split_once('-').unwrap();
                        format!("{from}-{}", one_less(to))
                    });
                    row[at] = parts.collect::<Vec<_>>().join(" ");
                }
            }
        }
        let lines = rows.iter().map(|row| {
            let line = order.iter().filter_map(|&at| row.get(at).cloned());
            line.collect::<Vec<_>>().join(",") + "\n"
        });
        prop_assert_eq!(read(&lines.collect::<String>()), instance);
    }
}

fn one(name: &str) -> Buffer {
    Buffer::new(name, 4, Lifespan::single(0, 2).unwrap())
}

#[test]
fn ids_that_would_change_are_not_written() {
    for name in ["", " ", " a", "a ", "a\n", "\u{a0}a"] {
        let instance = InstanceBuilder::new("t").buffer(one(name)).build().unwrap();
        let error = write_instance(&instance, Vec::new()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidInput);
        assert_eq!(
            error.to_string(),
            format!("id '{name}' cannot be written: it is empty, or begins or ends with whitespace")
        );
    }
}

#[test]
fn pairs_may_contain_ids_with_blanks() {
    let builder = InstanceBuilder::new("t").buffers([one("conv 1, bias"), one("50%"), one("c")]);
    let instance = builder.separate(0, 2).exclude(0, 1).build().unwrap();
    let text = written(&instance);
    assert!(text.contains("conv%201,%20bias") && text.contains("50%25"), "{text}");
    assert_eq!(read(&text), instance);
}

#[test]
fn ends_can_be_overridden() {
    let text = "id,lower,upper,size\na,2,4,1\n";
    let options = ReadOptions { endpoints: Some(Endpoints::Inclusive), ..ReadOptions::default() };
    let instance = read_instance("t", text.as_bytes(), options).unwrap();
    assert_eq!(instance.buffers()[0].lifespan(), &Lifespan::single(2, 5).unwrap());
}

#[test]
fn capacity_and_name_come_from_the_file_name() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("deep.net.4096.csv");
    let instance = InstanceBuilder::new("x").buffer(one("a")).build().unwrap();
    write_atomically(&path, |output| write_instance(&instance, output)).unwrap();
    let back = read_instance_file(&path, ReadOptions::default()).unwrap();
    assert_eq!((back.name(), back.capacity()), ("deep.net", Some(Bytes::new(4096))));
    let options = ReadOptions { capacity: Some(Bytes::new(7)), ..ReadOptions::default() };
    assert_eq!(read_instance_file(&path, options).unwrap().capacity(), Some(Bytes::new(7)));
    // A writer that fails leaves the old file unchanged.
    let failed = write_atomically(&path, |output| {
        output.write_all(b"half")?;
        Err(std::io::Error::other("stopped"))
    });
    assert!(failed.is_err());
    assert_eq!(read_instance_file(&path, ReadOptions::default()).unwrap(), back);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "no temporary file remains");
}

#[test]
fn the_largest_numbers_survive() {
    let life = Lifespan::single(0, u64::MAX).unwrap();
    let largest = Buffer::new("a", i64::MAX as u64 - 1, life).hinted(u64::MAX);
    let instance = InstanceBuilder::new("t").buffer(largest).build().unwrap();
    assert_eq!(read(&written(&instance)), instance);
}
