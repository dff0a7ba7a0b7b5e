//! Tests that the workflows contain no logic: each step with a command is one line that runs a target of the
//! Makefile or a script, so that it also runs on any other machine.

use std::fs;
use std::path::Path;

/// Returns the value of a line `KEY: VALUE` or `- KEY: VALUE` of YAML.
fn value<'a>(line: &'a str, key: &str) -> Option<&'a str> {
    let line = line.trim_start().trim_start_matches("- ");
    Some(line.strip_prefix(key)?.strip_prefix(':')?.trim())
}

/// Replaces `${{ matrix.KEY }}` in a command by each of the values `KEY: [VALUE, ..]` of the workflow.
fn commands(command: &str, workflow: &str) -> Vec<String> {
    let Some((before, rest)) = command.split_once("${{ matrix.") else { return vec![command.to_owned()] };
    let (key, after) = rest.split_once(" }}").expect("an expression ends in ' }}'");
    let list = workflow.lines().find_map(|line| value(line, key)).expect("the matrix has the key");
    let values = list.trim_start_matches('[').trim_end_matches(']').split(',');
    values.map(|value| format!("{before}{}{after}", value.trim())).collect()
}

#[test]
fn steps_run_targets_or_scripts() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let makefile = fs::read_to_string(root.join("Makefile")).unwrap();
    let is_target = |name: &str| makefile.lines().any(|line| line.starts_with(&format!("{name}:")));
    let workflows = fs::read_dir(root.join(".github/workflows")).unwrap().map(|entry| entry.unwrap().path());
    let mut count = 0;
    for path in workflows.chain([root.join("action.yml")]) {
        let text = fs::read_to_string(&path).unwrap();
        for command in text.lines().filter_map(|line| value(line, "run")).flat_map(|run| commands(run, &text))
        {
            let local = command.replace("\"$GITHUB_ACTION_PATH/", "").replace(".sh\"", ".sh");
            let exists = match local.split(' ').collect::<Vec<_>>()[..] {
                ["make", name] => is_target(name),
                ["bash", script, ..] => root.join(script).is_file(),
                _ => false,
            };
            assert!(exists && !local.contains(['|', ';', '&']), "{}: {command}", path.display());
            count += 1;
        }
    }
    assert!(count > 10, "{count} steps");
}
