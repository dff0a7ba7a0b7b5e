//! Every invalid file is rejected with a message that states the file and, where they apply, the line, the
//! column and the value.

use plimsoll_model::csv::{
    Given, ReadOptions, read_answer, read_instance, read_instance_file, read_instance_file_noted,
    read_layout, read_layout_file,
};
use plimsoll_model::{Bytes, Layout};
use std::io::{self, Read};
use std::path::Path;

/// Returns the message with which an instance file is rejected.
fn refusal(text: impl AsRef<[u8]>) -> String {
    match read_instance("f.csv", text.as_ref(), ReadOptions::default()) {
        Ok(instance) => panic!("{:?} was read as {} buffers", text.as_ref(), instance.len()),
        Err(error) => error.to_string(),
    }
}

#[track_caller]
fn refused(table: &[(&str, &str)]) {
    for (text, message) in table {
        assert_eq!(refusal(text), *message, "for {text:?}");
    }
}

/// Checks the messages for rows under a given header. The row is line 2.
#[track_caller]
fn row_refused(header: &str, table: &[(&str, &str)]) {
    for (row, message) in table {
        assert_eq!(refusal(format!("{header}\n{row}\n")), *message, "for {row:?}");
    }
}

#[test]
fn headers() {
    refused(&[
        ("", "f.csv: the file is empty; expected a header with id, lower, upper, size"),
        ("\n \n\r\n", "f.csv: the file is empty; expected a header with id, lower, upper, size"),
        ("id,lower,upper\na,0,1\n", "f.csv: line 1: missing column 'size'; the header has: id, lower, upper"),
        (
            "size,lower,upper\n1,0,1\n",
            "f.csv: line 1: missing column 'id' (other names: buffer, buffer_id); \
             the header has: size, lower, upper",
        ),
        (
            "id,lower,size\na,0,1\n",
            "f.csv: line 1: missing column 'upper' (other names: end, finish); the header has: id, lower, size",
        ),
        (
            "id,upper,size\na,0,1\n",
            "f.csv: line 1: missing column 'lower' (other names: begin, start); \
             the header has: id, upper, size",
        ),
        (
            "id,lower,upper,Size\n",
            "f.csv: line 1: missing column 'size'; the header has: id, lower, upper, Size; \
             rename 'Size' to 'size'?",
        ),
        (
            "\n\nid,lower,uper,size\n",
            "f.csv: line 3: missing column 'upper' (other names: end, finish); the header has: id, lower, uper, size; \
             rename 'uper' to 'upper'?",
        ),
        (
            "Name,lower,upper,size\n",
            "f.csv: line 1: missing column 'id' (other names: buffer, buffer_id); \
             the header has: Name, lower, upper, size; rename 'Name' to 'id'?",
        ),
        (
            "id,lower,upper,sizze,sized\n",
            "f.csv: line 1: missing column 'size'; the header has: id, lower, upper, sizze, sized; \
             rename 'sizze' to 'size'?",
        ),
        (
            "1,0,3,4\n",
            "f.csv: line 1: missing column 'id' (other names: buffer, buffer_id); the header has: 1, 0, 3, 4",
        ),
        ("id,lower,upper,end,size\n", "f.csv: line 1: columns 'upper' and 'end' have the same meaning"),
        ("id,start,upper,size,begin\n", "f.csv: line 1: columns 'start' and 'begin' have the same meaning"),
        ("id,lower,upper,size,id\n", "f.csv: line 1: columns 'id' and 'id' have the same meaning"),
    ]);
}

#[test]
fn numbers() {
    const SIZE: &str = "is not a size in bytes (a non-negative integer)";
    const STEP: &str = "is not a step (a non-negative integer)";
    row_refused(
        "id,lower,upper,size",
        &[
            ("a,0,1,-4", &format!("f.csv: line 2: column 'size': value '-4' {SIZE}")),
            ("a,0,1,+4", &format!("f.csv: line 2: column 'size': value '+4' {SIZE}")),
            ("a,0,1,4.5", &format!("f.csv: line 2: column 'size': value '4.5' {SIZE}")),
            ("a,0,1,1e3", &format!("f.csv: line 2: column 'size': value '1e3' {SIZE}")),
            ("a,0,1,4 5", &format!("f.csv: line 2: column 'size': value '4 5' {SIZE}")),
            ("a,0,1,", &format!("f.csv: line 2: column 'size': value '' {SIZE}")),
            ("a,0,1,64k", &format!("f.csv: line 2: column 'size': value '64k' {SIZE}; write 65536 for 64k")),
            (
                "a,0,1,64kb",
                &format!(
                    "f.csv: line 2: column 'size': value '64kb' {SIZE}; write 65536 for 64KiB or 64000 for 64kB"
                ),
            ),
            ("a,0,1,٣", &format!("f.csv: line 2: column 'size': value '٣' {SIZE}")),
            (
                "a,0,1,18446744073709551616",
                "f.csv: line 2: column 'size': value '18446744073709551616' is larger than 18446744073709551615",
            ),
            (
                "a,3,2,0",
                "f.csv: line 2: column 'upper': value '2': interval [3, 2) contains no step: upper must exceed lower",
            ),
            ("a,-1,1,4", &format!("f.csv: line 2: column 'lower': value '-1' {STEP}")),
            ("a,0,one,4", &format!("f.csv: line 2: column 'upper': value 'one' {STEP}")),
            (
                "a,99999999999999999999,1,4",
                "f.csv: line 2: column 'lower': value '99999999999999999999' is larger than 18446744073709551615",
            ),
            (
                "a,3,3,4",
                "f.csv: line 2: column 'upper': value '3': interval [3, 3) contains no step: upper must exceed lower",
            ),
            (
                "a,3,2,4",
                "f.csv: line 2: column 'upper': value '2': interval [3, 2) contains no step: upper must exceed lower",
            ),
            (",0,1,4", "f.csv: line 2: column 'id': value '' is not an id"),
        ],
    );
}

#[test]
fn inclusive_ends() {
    let one_step = "id,begin,end,size\na,3,3,4\n";
    let instance = read_instance("f.csv", one_step.as_bytes(), ReadOptions::default()).unwrap();
    assert_eq!(instance.buffers()[0].lifespan().duration(), 1);
    row_refused(
        "buffer_id,start,end,size",
        &[
            (
                "a,3,2,4",
                "f.csv: line 2: column 'end': value '2': interval [3, 3) contains no step: upper must exceed lower",
            ),
            (
                "a,0,18446744073709551615,4",
                "f.csv: line 2: column 'end': value '18446744073709551615' is not a step below the largest 64-bit integer",
            ),
            ("a,x,2,4", "f.csv: line 2: column 'start': value 'x' is not a step (a non-negative integer)"),
        ],
    );
}

#[test]
fn optional_columns() {
    const OFFSET: &str = "is not an offset in bytes (a non-negative integer)";
    row_refused(
        "id,lower,upper,size,alignment,hint,offset",
        &[
            ("a,0,1,4,0,,", "f.csv: line 2: column 'alignment': buffer 'a' has alignment 0; use 1 for none"),
            (
                "a,0,1,4,-8,,",
                "f.csv: line 2: column 'alignment': value '-8' is not an alignment in bytes (a positive integer)",
            ),
            ("a,0,1,4,,-2,", &format!("f.csv: line 2: column 'hint': value '-2' {OFFSET}")),
            ("a,0,1,4,,,-1", &format!("f.csv: line 2: column 'offset': value '-1' {OFFSET}")),
            (
                "a,0,1,4,8,,12",
                "f.csv: line 2: column 'offset': buffer 'a' is fixed at offset 12, which is not a multiple of its alignment 8",
            ),
        ],
    );
}

#[test]
fn gaps() {
    const GAP: &str = "is not a gap 'a-b' between two steps (or 'a-b@lo:hi')";
    row_refused(
        "id,lower,upper,size,gaps",
        &[
            ("a,0,9,4,3", &format!("f.csv: line 2: column 'gaps': value '3' {GAP}")),
            ("a,0,9,4,3-", &format!("f.csv: line 2: column 'gaps': value '3-' {GAP}")),
            ("a,0,9,4,3-x", &format!("f.csv: line 2: column 'gaps': value '3-x' {GAP}")),
            ("a,0,9,4,3--5", &format!("f.csv: line 2: column 'gaps': value '3--5' {GAP}")),
            ("a,0,9,4,1-2;3-4", &format!("f.csv: line 2: column 'gaps': value '1-2;3-4' {GAP}")),
            ("a,0,9,4,3-5@7", &format!("f.csv: line 2: column 'gaps': value '3-5@7' {GAP}")),
            (
                "a,0,9,4,3-99999999999999999999",
                "f.csv: line 2: column 'gaps': value '99999999999999999999' is larger than 18446744073709551615",
            ),
            (
                "a,0,9,4,1-2 3-5@0:2",
                "f.csv: line 2: column 'gaps': value '3-5@0:2': a gap during which part of the buffer stays live \
                 (a window '@lo:hi') is not supported; split the buffer instead",
            ),
            (
                "a,0,9,4,5-5",
                "f.csv: line 2: column 'gaps': value '5-5': interval [5, 5) contains no step: \
                 upper must exceed lower",
            ),
            (
                "a,2,9,4,1-3",
                "f.csv: line 2: column 'gaps': value '1-3': gap [1, 3) does not lie inside [2, 9)",
            ),
            (
                "a,2,9,4,8-12",
                "f.csv: line 2: column 'gaps': value '8-12': gap [8, 12) does not lie inside [2, 9)",
            ),
            (
                "a,2,9,4,3-6 5-7",
                "f.csv: line 2: column 'gaps': value '3-6 5-7': gaps [3, 6) and [5, 7) overlap",
            ),
            (
                "a,2,9,4,2-9",
                "f.csv: line 2: column 'gaps': value '2-9': the gaps leave no live step in [2, 9)",
            ),
            (
                "a,4,4,4,2-9",
                "f.csv: line 2: column 'upper': value '4': interval [4, 4) contains no step: upper must exceed lower",
            ),
        ],
    );
}

#[test]
fn rows_together() {
    row_refused(
        "id,lower,upper,size",
        &[
            ("a,0,1,4\nb,0,1,4\na,2,3,4", "f.csv: line 4: column 'id': duplicate id 'a' (other row: line 2)"),
            ("a,0,1", "f.csv: line 2: the row has 3 fields, but the header has 4"),
            ("a", "f.csv: line 2: the row has 1 field, but the header has 4"),
            ("a,0,1,4,5", "f.csv: line 2: the row has 5 fields, but the header has 4"),
            ("a,0,1,4\n\"b,0,1,4", "f.csv: line 3: the row has 1 field, but the header has 4"),
            (
                "a,0,1,9223372036854775808",
                "f.csv: line 2: column 'size': buffer 'a': size 9223372036854775808 is too large; the buffers up to this one, \
                 aligned and laid end to end, need 9223372036854775808 bytes, but at most 9223372036854775807 \
                 (2^63 - 1) are allowed",
            ),
            (
                "a,0,1,9223372036854775000\nb,2,3,1000",
                "f.csv: line 3: column 'size': buffer 'b': size 1000 is too large; the buffers up to this one, \
                 aligned and laid end to end, need 9223372036854776000 bytes, but at most 9223372036854775807 \
                 (2^63 - 1) are allowed",
            ),
        ],
    );
    row_refused(
        "id,lower,upper,size,separations,exclusions",
        &[
            (
                "a,0,1,4,b,",
                "f.csv: line 2: column 'separations': value 'b' is not the id of a buffer in this file",
            ),
            (
                "a,0,1,4,,\nb,0,1,4,,a c",
                "f.csv: line 3: column 'exclusions': value 'c' is not the id of a buffer in this file",
            ),
            ("a,0,1,4,a,", "f.csv: line 2: column 'separations': value 'a' is the buffer's own id"),
            (
                "a,0,1,4,b,\nb,0,1,4,,a",
                "f.csv: line 3: column 'exclusions': the pair of buffers 'a' and 'b' is both \
                 separated and excluded (other row: line 2)",
            ),
        ],
    );
}

#[test]
fn lines_are_counted_with_any_line_end() {
    let bad = "is not a step (a non-negative integer)";
    refused(&[
        (
            "id,lower,upper,size\r\na,0,1,4\r\nb,0,x,4\r\n",
            &format!("f.csv: line 3: column 'upper': value 'x' {bad}"),
        ),
        (
            "id,lower,upper,size\n\n\na,0,1,4\n  \t \n\nb,0,x,4\n",
            &format!("f.csv: line 7: column 'upper': value 'x' {bad}"),
        ),
        (
            "id,lower,upper,size\r\n\r\na,0,1,4\r\n\r\n\r\nb,0,x,4",
            &format!("f.csv: line 6: column 'upper': value 'x' {bad}"),
        ),
        (
            "id,lower,upper,size\n\"a\nstill a\",0,1,4\nb,0,x,4\n",
            &format!("f.csv: line 4: column 'upper': value 'x' {bad}"),
        ),
        (
            "\u{feff}id,lower,upper,size\nb,0,x,4\n",
            &format!("f.csv: line 2: column 'upper': value 'x' {bad}"),
        ),
        (
            "id,lower,upper,size\ra,0,1,4\rb,0,x,4\r",
            &format!("f.csv: line 3: column 'upper': value 'x' {bad}"),
        ),
        (
            "id,lower,upper,size\r\na,0,1,4\r\n\r\na,0,1,4\r\n",
            "f.csv: line 4: column 'id': duplicate id 'a' (other row: line 2)",
        ),
    ]);
}

#[test]
fn invalid_utf8() {
    assert_eq!(
        refusal(b"id,lower,upper,size\r\na,0,1,1\r\n\xff,0,1,1\r\n"),
        "f.csv: line 3: field 1 is not valid UTF-8"
    );
    assert_eq!(refusal(b"id,l\xff,upper,size\n"), "f.csv: line 1: field 2 is not valid UTF-8");
}

#[test]
fn files_that_cannot_be_read() {
    struct Broken;
    impl Read for Broken {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err(io::Error::other("the disk is gone"))
        }
    }
    let error = read_instance("f.csv", Broken, ReadOptions::default()).unwrap_err();
    assert_eq!(error.to_string(), "f.csv: cannot read: the disk is gone");
    let folder = tempfile::tempdir().unwrap();
    let missing = folder.path().join("missing.csv");
    let error = read_instance_file(&missing, ReadOptions::default()).unwrap_err().to_string();
    assert!(error.starts_with(&format!("{}: cannot read: ", missing.display())), "{error}");
    let error = read_instance_file(folder.path(), ReadOptions::default()).unwrap_err();
    assert_eq!(error.to_string(), format!("{}: cannot read: it is a folder", folder.path().display()));
    let instance = read_instance("f", "id,lower,upper,size\n".as_bytes(), ReadOptions::default()).unwrap();
    assert!(read_layout_file(Path::new(&missing), &instance).is_err());
}

#[test]
fn no_buffers_are_allowed() {
    for text in ["id,lower,upper,size", "id,lower,upper,size\n", "\n\nid,lower,upper,size\r\n\r\n"] {
        let instance = read_instance("f.csv", text.as_bytes(), ReadOptions::default()).unwrap();
        assert!(instance.is_empty());
    }
}

#[test]
fn layouts() {
    let text = "id,lower,upper,size,gaps\na,0,2,4,\nb,1,9,8,2-4\n";
    let instance = read_instance("f.csv", text.as_bytes(), ReadOptions::default()).unwrap();
    let table = [
        ("", "g.csv: the file is empty; expected a header with id, offset"),
        ("id\na\n", "g.csv: line 1: missing column 'offset'; the header has: id"),
        ("id,offset\na,0\n", "g.csv: buffer 'b' of the instance is not placed"),
        ("id,offset\na,0\nb,4\nc,0\n", "g.csv: line 4: column 'id': the instance has no buffer 'c'"),
        ("id,offset\na,0\n\na,4\n", "g.csv: line 4: column 'id': buffer 'a' is already placed on line 2"),
        (
            "id,offset\na,\n",
            "g.csv: line 2: column 'offset': value '' is not an offset in bytes (a non-negative integer)",
        ),
        (
            "id,offset\na,-4\n",
            "g.csv: line 2: column 'offset': value '-4' is not an offset in bytes (a non-negative integer)",
        ),
        (
            "id,size,offset\na,5,0\n",
            "g.csv: line 2: column 'size': value '5' of buffer 'a' differs from the instance, which has 4",
        ),
        (
            "id,lower,offset\na,1,0\n",
            "g.csv: line 2: column 'lower': value '1' of buffer 'a' differs from the instance, which has 0\
             ; the layout may be for another order of the operators: `plan --instance` writes the matching instance",
        ),
        (
            "id,end,offset\na,2,0\n",
            "g.csv: line 2: column 'end': value '2' of buffer 'a' differs from the instance, which has 2 (first step after the lifespan)\
             ; the layout may be for another order of the operators: `plan --instance` writes the matching instance",
        ),
        (
            "id,lower,upper,gaps,offset\nb,1,9,2-5,0\n",
            "g.csv: line 2: column 'gaps': value '2-5' of buffer 'b' differs from the instance, which has lifespan \
             [1, 2) + [4, 9); the layout may be for another order of the operators: `plan --instance` writes the matching instance",
        ),
    ];
    for (text, message) in table {
        let error = read_layout("g.csv", text.as_bytes(), &instance).unwrap_err();
        assert_eq!(error.to_string(), message, "for {text:?}");
    }
    let fine = "id,lower,upper,gaps,offset\r\nb,1,9,2-4,4\r\na,0,2,,0\r\n";
    assert!(read_layout("g.csv", fine.as_bytes(), &instance).is_ok());
}

#[test]
fn unknown_columns_are_ignored_and_noted() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.csv");
    let note = |text: &str| {
        std::fs::write(&path, text).unwrap();
        let noted = read_instance_file_noted(&path, ReadOptions::default()).unwrap();
        assert_eq!((noted.value.len(), noted.value.buffers()[0].size().get()), (1, 4), "{text}");
        noted.note()
    };
    assert_eq!(note("size,upper,lower,id\n4,2,0,a\n"), None);
    assert_eq!(note("colour,size,upper,,lower,id\nred,4,2,,0,a\n").unwrap(), "columns 'colour', '' ignored");
    assert_eq!(
        note("id,lower,upper,size,alignement,Hint\na,0,2,4,x,y\n").unwrap(),
        "columns 'alignement' (did you mean 'alignment'?), 'Hint' (did you mean 'hint'?) ignored"
    );
    assert_eq!(
        note("id,lower,upper,size,pool,pool_size\na,0,2,4,0,4\n").unwrap(),
        "columns 'pool', 'pool_size' ignored"
    );
    let instance = read_instance_file(&path, ReadOptions::default()).unwrap();
    let answer = read_answer("g.csv", "note,offset,id\nx,8,a\n".as_bytes(), &instance).unwrap();
    assert_eq!(answer.note().unwrap(), "column 'note' ignored");
    assert_eq!(answer.value, Given::Layout(Layout::from_raw([8])));
}

#[test]
fn answers_of_other_kinds() {
    let text = "id,lower,upper,size\na,0,2,4\nb,1,9,8\nz,0,9,0\n";
    let instance = read_instance("f.csv", text.as_bytes(), ReadOptions::default()).unwrap();
    let read = |text: &str| read_answer("g.csv", text.as_bytes(), &instance).map(|noted| noted.value);
    let Ok(Given::SharedObjects(plan)) = read("id,pool,pool_size\nz,7,8\nb,7,8\na,3,4\n") else { panic!() };
    assert_eq!(plan.assignment().iter().map(|pool| pool.index()).collect::<Vec<_>>(), [0, 1, 1]);
    assert_eq!(plan.total().get(), 12);
    let Ok(Given::SplitBuffers(split)) = read("id,pieces\na,0-1 5-8\nb,8-16\nz,\n") else { panic!() };
    assert_eq!(split.pieces().iter().map(Vec::len).collect::<Vec<_>>(), [2, 1, 0]);
    let spill = "id,traffic,tier,offset\na,8,chip,4\nb,,slow,\nz,0,chip,0\n";
    let Ok(Given::Spill { spill, traffic }) = read(spill) else { panic!() };
    assert_eq!(spill.spilled().map(plimsoll_model::BufferId::index).collect::<Vec<_>>(), [1]);
    assert_eq!(traffic, [Some(Bytes::new(8)), None, Some(Bytes::ZERO)]);
    for (text, message) in [
        ("id,pool\na,0\n", "line 1: missing column 'pool_size'"),
        (
            "id,pool,pool_size\na,0,4\nb,0,8\n",
            "line 3: column 'pool_size': value '8' differs from the size 4",
        ),
        ("id,pool,pool_size\na,x,4\n", "line 2: column 'pool': value 'x' is not the number of a pool"),
        ("id,pieces\na,4-0\n", "line 2: column 'pieces': value '4-0' is not a range"),
        ("id,pieces\na,4\n", "line 2: column 'pieces': value '4' is not a range"),
        (
            "id,tier,offset,traffic\na,fast,0,8\n",
            "line 2: column 'tier': value 'fast' is not 'chip' or 'slow'",
        ),
        ("id,tier,offset,traffic\na,slow,0,8\n", "line 2: column 'offset': value '0' is not empty"),
        ("id,tier,offset,traffic\na,chip,,8\n", "line 2: column 'offset': value '' is not an offset"),
        ("id,tier,traffic\na,slow,8\n", "line 1: missing column 'offset'"),
        ("id,pieces\na,0-4\n", "buffer 'b' of the instance is not placed"),
    ] {
        let error = read(text).unwrap_err().to_string();
        assert!(error.starts_with("g.csv: ") && error.contains(message), "{error} for {text:?}");
    }
}
