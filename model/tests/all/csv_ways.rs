//! Numbers, ends of lifespans, offsets and column names in the ways in which other programs write them.

use plimsoll_model::csv::{
    Pins, ReadOptions, read_instance, read_instance_file_noted, read_layout, write_instance,
};
use plimsoll_model::{Bytes, Instance, Layout, load};

fn read(text: &str) -> Instance {
    read_instance("t", text.as_bytes(), ReadOptions::default()).unwrap()
}

fn refusal(text: &str) -> String {
    read_instance("t", text.as_bytes(), ReadOptions::default()).unwrap_err().to_string()
}

/// Returns the lifespans, as half-open intervals.
fn lifespans(text: &str) -> Vec<String> {
    read(text).buffers().iter().map(|buffer| buffer.lifespan().to_string()).collect()
}

#[test]
fn open_ends_are_the_last_step() {
    for open in ["-1", "", "None", "null", "inf", "+Inf", "Infinity", "nan", "-1.0"] {
        let text = format!("id,lower,upper,size\na,0,4,3\nb,2,{open},5\nc,5,7,2\nd,6,{open},1\n");
        assert_eq!(lifespans(&text), ["[0, 4)", "[2, 7)", "[5, 7)", "[6, 7)"], "{open}");
        let text = format!("id,start,end,size\na,0,3,3\nb,2,{open},5\nc,5,6,2\nd,6,{open},1\n");
        assert_eq!(load(&read(&text)).0, Bytes::new(8), "{open}");
        assert_eq!(lifespans(&text), ["[0, 4)", "[2, 7)", "[5, 7)", "[6, 7)"], "{open}");
    }
    // An open lifespan has at least one step, and at least one after each of its gaps.
    assert_eq!(lifespans("id,lower,upper,size\na,9,-1,4\nb,0,3,1\n"), ["[9, 10)", "[0, 3)"]);
    let gaps = "id,lower,end,size,gaps\na,1,-1,4,3-5 8-11\nb,2,7,1,\n";
    assert_eq!(lifespans(gaps), ["[1, 3) + [6, 8) + [12, 13)", "[2, 8)"]);
    assert!(refusal("id,lower,upper,size\na,-1,3,4\n").contains("column 'lower': value '-1'"));
    assert!(refusal("id,lower,upper,size\na,0,-2,4\n").contains("column 'upper': value '-2'"));
    assert!(refusal("id,lower,upper,size\na,18446744073709551615,-1,4\n").contains("below the largest"));
}

#[test]
fn open_ends_are_remarked_and_match_in_layouts() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.csv");
    std::fs::write(&path, "id,start,finish,size\na,0,1,3\nb,1,inf,5\nc,2,6,2\n").unwrap();
    let noted = read_instance_file_noted(&path, ReadOptions::default()).unwrap();
    assert_eq!((noted.end, noted.notes().len()), (Some("finish"), 1));
    assert!(noted.notes()[0].contains("1 end is open") && noted.notes()[0].contains("step 7"));
    let layout = "id,upper,offset\na,2,0x10\nb,-1,0\nc,7,5.0\n";
    let layout = read_layout("l", layout.as_bytes(), &noted.value).unwrap();
    assert_eq!(layout, Layout::from_raw([16, 0, 5]));
    let wrong = read_layout("l", "id,upper,offset\na,-1,0\nb,7,0\nc,7,0\n".as_bytes(), &noted.value);
    assert!(wrong.unwrap_err().to_string().contains("value '-1' of buffer 'a' differs"));
}

#[test]
fn numbers_are_hexadecimal_or_have_a_fraction_of_zeros() {
    let text =
        "id,lower,upper,size,alignment,gaps,offset\na,0x0,1e,25.0,0x10,,0x2F0\nb,2,0XA,7.00,,0x3-5.0,\n";
    assert!(refusal(text).contains("value '1e'"));
    let written = |text: &str| {
        let mut bytes = Vec::new();
        write_instance(&read(text), &mut bytes).unwrap();
        String::from_utf8(bytes).unwrap()
    };
    let plain = "id,lower,upper,size,alignment,gaps,offset\na,0,9,25,16,,752\nb,2,10,7,1,3-5,\n";
    assert_eq!(written(&text.replace("1e", "9.")), plain);
    for bad in ["25.5", "0x", "0x1.0", ".0", "1e3", "+4", "0b1", "-0x1", "4,", "1_000"] {
        let text = format!("id,lower,upper,size\na,0,1,\"{bad}\"\n");
        assert!(refusal(&text).contains(&format!("value '{bad}'")), "{bad}");
    }
    assert!(refusal("id,lower,upper,size\na,0,1,0x10000000000000000\n").contains("is larger than"));
}

#[test]
fn columns_of_other_tools_are_read_or_named() {
    assert_eq!(lifespans("id,start,finish,size\na,2,4,9\n"), ["[2, 5)"]);
    for (header, hint) in [
        (
            "id,x,width,y,height",
            "missing column 'lower' (other names: begin, start); the header has: id, x, width, y, height; rename 'x' to 'lower'?",
        ),
        (
            "id,lower,width,size",
            "; replace the length 'width' by 'upper', which is the start plus the length",
        ),
        ("id,lower,Duration,size", "; replace the length 'Duration' by 'upper'"),
        (
            "id,lower,last_use,size",
            "; rename 'last_use' to 'upper' (first step after the lifespan) or 'end' (last live step)?",
        ),
        ("id,lower,upper,height", "rename 'height' to 'size'?"),
    ] {
        let text = refusal(&format!("{header}\n"));
        assert!(text.contains(hint), "{text}");
    }
}

#[test]
fn a_file_in_which_every_buffer_has_an_offset_is_a_plan() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("plan.csv");
    let noted = |text: &str, pins| {
        std::fs::write(&path, text).unwrap();
        read_instance_file_noted(&path, ReadOptions { pins, ..ReadOptions::default() }).unwrap()
    };
    let fixed = |instance: &Instance| instance.buffers().iter().filter(|b| b.fixed().is_some()).count();
    // The second offset is not a multiple of its alignment, which is a violation of the plan and no error.
    let all = "id,lower,upper,size,alignment,offset\na,0,3,5,1,16\nb,1,2,9,8,4\n";
    for pins in [Pins::UnlessPlan, Pins::Free] {
        let plan = noted(all, pins);
        assert_eq!((fixed(&plan.value), plan.plan), (0, Some(Layout::from_raw([16, 4]))));
    }
    let some = noted("id,lower,upper,size,offset\na,0,3,5,16\nb,1,2,9,\n", Pins::UnlessPlan);
    assert_eq!((fixed(&some.value), some.plan), (1, None));
    let aligned = all.replace(",8,4", ",4,4");
    let pinned = noted(&aligned, Pins::Fixed);
    assert_eq!((fixed(&pinned.value), pinned.plan), (2, Some(Layout::from_raw([16, 4]))));
    assert_eq!(noted("id,lower,upper,size,offset\n", Pins::UnlessPlan).plan, None);
}
