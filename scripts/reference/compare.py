"""Compares the tensor sizes of `plimsoll import` with those of a runtime.

    python compare.py --plimsoll PATH --models FOLDER --sizes sizes.jsonl --out record.csv > summary.md

Reads the records of sizes_onnx.py or sizes_tflite.py. Imports every file that the runtime executed, with the
same input shapes, and compares the bytes of tensors by name. Categories of a file:

    runtime-fails       the runtime did not execute it; Plimsoll is not run
    equal               all common tensors have equal sizes
    refused             Plimsoll reports an error
    differs-but-listed  every tensor that differs is listed as declared, assumed or bounded
    differs-silently    a tensor that is not listed differs
    crash, timeout      Plimsoll is ended by a signal or a panic, or exceeds the time limit
"""

import argparse
import collections
import concurrent.futures
import csv
import json
import pathlib
import re
import subprocess
import tempfile

import records

NETWORK = 8  # minimum number of operators for a model to count as a network in the summary
COLUMNS = ["file", "variant", "operators", "category", "compared", "equal", "listed", "silent", "strings", "missing"]
COLUMNS += ["inferred", "declared", "assumed", "message"]
CATEGORIES = ["equal", "refused", "differs-but-listed", "differs-silently", "crash", "timeout", "runtime-fails"]


def main():
    options = arguments()
    found = [record for path in options.sizes for record in records.read(path)]
    if options.variant:
        found = [record for record in found if record["variant"] in options.variant]
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        rows = list(pool.map(lambda record: compare(record, options), found))
    with open(options.out, "w", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, extrasaction="ignore")
        writer.writeheader()
        writer.writerows(rows)
    summary(rows, options.examples)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--plimsoll", required=True, help="the command")
    parser.add_argument("--models", required=True, help="folder to which paths in the records are relative")
    parser.add_argument("--sizes", required=True, action="append", help="records of a runtime; may be repeated")
    parser.add_argument("--out", required=True, help="one row per file and variant, CSV")
    parser.add_argument("--variant", action="append", help="only this variant; may be repeated")
    parser.add_argument("--values", action="store_true", help="also pass `--value NAME=..` for small integer inputs")
    parser.add_argument("--seconds", type=float, default=30.0, help="time limit of an import")
    parser.add_argument("--jobs", type=int, default=2, help="number of parallel imports")
    parser.add_argument("--examples", type=int, default=3, help="files named per group of refusals")
    return parser.parse_args()


def compare(record, options):
    row = {"file": record["file"], "variant": record["variant"], "differences": []}
    row |= {column: 0 for column in ("compared", "equal", "listed", "silent", "strings", "missing")}
    row["operators"] = sum(record.get("operators", {}).values())
    if not record["ran"]:
        error = record["error"]
        return row | {"category": "runtime-fails", "message": f"{error['class']}: {error['text']}"}
    given = list(record["arguments"])
    if options.values:
        given += [f"--value={name}={','.join(map(str, value))}" for name, value in record.get("values", {}).items()]
    category, message, graph, report = imported(options, record["file"], given)
    row |= {"category": category, "message": message}
    if graph is not None:
        row |= report.get("sizes", {})
        match(row, graph, record["tensors"], listed(report))
    return row


def imported(options, name, given):
    """Returns the category, the message, the graph and the report of one import."""
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "graph.json"
        command = [options.plimsoll, "import", str(pathlib.Path(options.models) / name), *given]
        command += ["--output", str(out), "--json"]
        try:
            answer = subprocess.run(command, capture_output=True, timeout=options.seconds, check=False)
        except subprocess.TimeoutExpired:
            return "timeout", f"no answer within {options.seconds} s", None, None
        message = answer.stderr.decode("utf8", "replace").strip()
        if answer.returncode < 0 or answer.returncode > 5 or "panicked" in message:
            return "crash", message, None, None
        if answer.returncode:
            return "refused", message.replace(f"{pathlib.Path(options.models) / name}: ", ""), None, None
        return "equal", "", json.loads(out.read_text()), json.loads(answer.stdout)


def listed(report):
    """Returns the names of tensors whose sizes the import reports as not inferred.

    If a report has no such list, every tensor that one of its notes names in quotes counts as listed.
    """
    if "declared_tensors" in report:
        return {*report["declared_tensors"], *report["assumed_tensors"]}
    return {name for note in report["assumed"] for name in re.findall(r"'((?:[^']|'(?=\w))+)'", note)}


def match(row, graph, tensors, notes):
    """Counts equal and different tensors. If several tensors share a name, any of them may match."""
    ours = {tensor["name"]: tensor for tensor in graph["tensors"]}
    theirs = collections.defaultdict(list)
    for tensor in tensors:
        theirs[tensor["name"]].append(tensor)
    made = producers(graph)
    for name, candidates in theirs.items():
        if any(tensor["bytes"] is None for tensor in candidates):
            row["strings"] += 1
            continue
        if name not in ours:
            row["missing"] += 1
            continue
        row["compared"] += 1
        mine = ours[name]
        if any(tensor["bytes"] == mine["bytes"] for tensor in candidates):
            row["equal"] += 1
            continue
        kind = "listed" if name in notes else "silent"
        row[kind] += 1
        row["differences"].append((kind, name, described(mine), described(candidates[0]), made.get(name, (-1, "-"))))
    if row["silent"]:
        row["category"] = "differs-silently"
    elif row["listed"]:
        row["category"] = "differs-but-listed"
    row["differences"].sort(key=lambda difference: (difference[4][0], difference[0] != "silent"))
    row["message"] = "; ".join(f"{name}: {a}, runtime {b}" for kind, name, a, b, _ in row["differences"][:3])


def described(tensor):
    kind = tensor.get("element") or tensor.get("dtype") or "?"
    shape = tensor.get("shape")
    return f"{kind} {'?' if shape is None else 'x'.join(map(str, shape)) or 'scalar'} ({tensor['bytes']} B)"


def producers(graph):
    """Returns, by tensor name, the number and the kind of the operator of the main graph that produces the tensor."""
    operators = enumerate(graph["body"]["operators"])
    return {name: (at, one["kind"]) for at, one in operators for name in one.get("outputs", [])}


def shape_of_message(message):
    """Returns a message without names, numbers and shapes, so that similar messages can be grouped."""
    text = message.splitlines()[0] if message else ""
    text = re.sub(r"^plimsoll: ", "", text)
    text = re.sub(r"(--[a-z-]+)[ =]\S+", r"\1 ..", text)
    text = re.sub(r"'.*?'(?=[\s:;,.)]|$)", "'..'", text)
    text = re.sub(r"operator \d+ (?:'..' )?(\(.*?\)) ?", r"\1 ", text)
    text = text.replace("; --assume-bytes .. such tensors a size", "")
    text = re.sub(r"\b(\d+x)+\d+\b|\b[\w?.-]+(x[\w?]+)+\b(?=:)", "SHAPE", text)
    return re.sub(r"\b\d+\b", "N", text)[:300]


def summary(rows, examples):
    variants = sorted({row["variant"] for row in rows})
    print("| category | " + " | ".join(variants) + " |\n|---|" + "---:|" * len(variants))
    for category in CATEGORIES:
        counts = [sum(row["category"] == category and row["variant"] == one for row in rows) for one in variants]
        print(f"| {category} | " + " | ".join(map(str, counts)) + " |")
    print()
    for variant in variants:
        for kind, least in (("files", 0), (f"networks of at least {NETWORK} operators", NETWORK)):
            ran = [row for row in rows if row["variant"] == variant and row["operators"] >= least]
            ran = [row for row in ran if row["category"] != "runtime-fails"]
            planned = sum(row["category"] not in ("refused", "crash", "timeout") for row in ran)
            share = f"{100 * planned / max(1, len(ran)):.2f} %"
            silent = sum(row["category"] == "differs-silently" for row in ran)
            sizes = [f"{one} {sum(row.get(one, 0) for row in ran)}" for one in ("inferred", "declared", "assumed")]
            print(f"- {variant}, {kind}: {len(ran)} run, {planned} imported ({share}),", end=" ")
            print(f"{silent} differ silently; {', '.join(sizes)}")
    print()
    print(f"Tensors compared: {sum(row['compared'] for row in rows)};", end=" ")
    print(f"strings, sequences and optionals skipped: {sum(row['strings'] for row in rows)};", end=" ")
    print(f"not in the graph: {sum(row['missing'] for row in rows)}.")
    for category in ("refused", "crash", "timeout"):
        groups = collections.defaultdict(list)
        for row in rows:
            if row["category"] == category:
                groups[shape_of_message(row["message"])].append(row)
        if groups:
            print(f"\n## {category}\n")
        for shape, group in sorted(groups.items(), key=lambda item: -len(item[1])):
            per = collections.Counter(row["variant"] for row in group)
            print(f"- {len(group)} ({', '.join(f'{one} {count}' for one, count in sorted(per.items()))}): {shape}")
            for row in group[:examples]:
                print(f"  - `{row['file']}` ({row['variant']}): {row['message'][:240]}")
    for kind in ("silent", "listed"):
        differences(rows, kind)


def differences(rows, kind):
    """Prints the number of files by the first operator whose output differs, then these outputs."""
    first = [(row, next((one for one in row["differences"] if one[0] == kind), None)) for row in rows]
    first = [(row, one) for row, one in first if one is not None]
    print(f"\n## Differences, {kind}: {len(first)} files\n\n| first operator | files |\n|---|---:|")
    for operator, count in collections.Counter(one[4][1] for _, one in first).most_common():
        print(f"| {operator} | {count} |")
    print("\n| file | variant | tensor | produced by | Plimsoll | runtime | tensors |\n|---|---|---|---|---|---|---:|")
    for row, (_, name, mine, theirs, operator) in first:
        cells = [row["file"], row["variant"], name[:80], operator[1], mine, theirs, str(row[kind])]
        print("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")


if __name__ == "__main__":
    main()
