# Records of graphs, read by results.sh: `binary`, `prefix`, `wanted` and `unfinished` are its.
# shellcheck shell=bash disable=SC2154

# The code and the machine of a record.
made_with() {
    echo "- commit $(git rev-parse HEAD)$(test -z "$(git status --porcelain --untracked-files=no)" || echo ', with changes')"
    echo "- $(rustc --version)"
    echo "- $(awk -F': ' '/model name/ {print $2; exit}' /proc/cpuinfo 2>/dev/null || uname -m), $(nproc) threads"
}

# Rows of several runs as one table: the header of the first only.
append_rows() { # from, to
    if [ -e "$2" ]; then
        tail -n +2 "$1" >>"$2"
    else
        cp "$1" "$2"
    fi
}

# A folder for a record, and one that is gone when it is done.
begin_record() { # where
    out=$1
    if [ -e "$out" ]; then
        echo "$out is there already" >&2
        exit 2
    fi
    scratch=$(mktemp -d)
    unfinished=("$scratch" "$out")
    mkdir -p "$out"
}

end_record() {
    rm -rf "$scratch"
    unfinished=()
}

# The graphs of these families, one per line of standard input, with their parameters; and, where there are, all models.
graphs_of_families() {
    local family
    while read -r family; do
        # shellcheck disable=SC2086 # words of one line are arguments
        (cd "$scratch" && "$binary" generate $family >/dev/null)
    done
    graphs=("$scratch"/*.json)
    if [ -n "${PLIMSOLL_CORPORA:-}" ]; then
        graphs+=("$PLIMSOLL_CORPORA"/onnx/*.onnx "$PLIMSOLL_CORPORA"/tflite/*.tflite)
    else
        echo "$(basename "$out") goes without models: PLIMSOLL_CORPORA is not set" >&2
    fi
}

# What a model's file leaves open; the models' own batch where a word follows.
open_shapes() { # model [, own]
    shapes=()
    case "$1" in
        # One sequence of 512 samples with 64 of context.
        */silero*) shapes=(--input-shape input=1x576 --input-shape state=2x1x128) ;;
        *.onnx) if [ $# = 1 ]; then shapes=(--batch 1); fi ;;
    esac
}

# One row per line: exit code 1 says that nothing fits, which is a row too.
rows_of() { # command and arguments
    "$binary" "$@" --output "$scratch/rows.csv" >/dev/null || [ $? -eq 1 ]
    append_rows "$scratch/rows.csv" "$out/rows.csv"
}

# README.md of a record: a title, how it was made, a table of files, notes.
describe() { # title, how (lines), files (lines of | file | holds |), notes (lines)
    {
        echo "# $1 record"
        echo
        echo "$2"
        echo
        made_with
        echo
        echo "| file | holds |"
        echo "|---|---|"
        echo "$3"
        echo
        echo "$4"
    } >"$out/README.md"
}

# Each graph by every order algorithm.
orders_record() {
    begin_record "$prefix-orders"
    graphs_of_families <scripts/graphs.txt
    for graph in "${graphs[@]}"; do
        open_shapes "$graph" own
        rows_of order "$graph" "${shapes[@]+"${shapes[@]}"}" --compare --time-limit 10
    done
    awk -f scripts/orders.awk "$out/rows.csv" >"$out/summary.md"
    describe Orders "Made by \`scripts/results.sh orders\`: \`plimsoll order GRAPH --compare --time-limit 10\` on the graphs that
\`scripts/graphs.txt\` generates and, where there are, on the ONNX and TFLite models of the corpora. One thread." \
        "| \`rows.csv\` | one row per graph and algorithm: peak, bound, claim, seconds, of the body of the graph |
| \`summary.md\` | one line per graph, from the rows |" \
        "Peaks and bounds are bytes alive: inputs and outputs in the arena while needed, weights outside, views shared,
nothing in place. Every order passed the checker. Seconds are those of the algorithm on the body."
    end_record
}
if wanted orders; then
    orders_record
fi

# Every relation of conflicts on the graphs of the orders.
structure_record() {
    begin_record "$prefix-structure"
    graphs_of_families <scripts/graphs.txt
    for graph in "${graphs[@]}"; do
        open_shapes "$graph" own
        rows_of plan "$graph" "${shapes[@]+"${shapes[@]}"}" --conflicts compare --time-limit 10
    done
    awk -f scripts/structure.awk "$out/rows.csv" >"$out/summary.md"
    describe Structure "Made by \`scripts/results.sh structure\`: \`plimsoll plan GRAPH --conflicts compare --time-limit 10\` on the graphs that
\`scripts/graphs.txt\` generates and, where there are, on the ONNX and TFLite models of the corpora. One thread." \
        "| \`rows.csv\` | one row per graph and relation: pairs, clique, the patent's placement and the best in one piece and in pieces, pairs that collide |
| \`summary.md\` | one line per graph, from the rows |" \
        "Bytes of the body of the graph, inputs and outputs in the arena while needed, weights outside, views shared, nothing in
place; all relations see the same order. Every placement passed the checker of its conflicts and, but for \`mutex\`, that of
races. Pairs that collide are those of the placement in one piece."
    end_record
}
if wanted structure; then
    structure_record
fi

# Every paper: what is printed, ours, the difference.
if wanted reproduce; then
    if [ -e "$prefix-reproduce" ]; then
        echo "$prefix-reproduce is there already" >&2
        exit 2
    fi
    "$binary" reproduce all --threads 2 --time-limit 20 --out "$prefix-reproduce" >/dev/null
fi

# Every model on every machine: all schedules, and memory against makespan.
overlap_record() {
    begin_record "$prefix-overlap"
    for machine in luna ethos-u generic; do
        for model in "$PLIMSOLL_CORPORA"/onnx/*.onnx "$PLIMSOLL_CORPORA"/tflite/*.tflite; do
            open_shapes "$model"
            options=(--machine "$machine" --boundary outside "${shapes[@]+"${shapes[@]}"}")
            rows_of overlap "$model" "${options[@]}"
            rm -f "$scratch/front.csv"
            "$binary" overlap "$model" "${options[@]}" --front --output "$scratch/front.csv" >/dev/null || [ $? -eq 1 ]
            if [ -e "$scratch/front.csv" ]; then
                append_rows "$scratch/front.csv" "$out/front.csv"
            fi
        done
    done
    awk -f scripts/overlap.awk "$out/rows.csv" >"$out/summary.md"
    describe Overlap "Made by \`scripts/results.sh overlap\`: \`plimsoll overlap MODEL --machine MACHINE --boundary outside\`, and the same with
\`--front\`, on the ONNX (batch 1) and TFLite models of the corpora and all machines that are built in. One thread." \
        "| \`rows.csv\` | one row per model, machine and schedule: makespan, bound, gap, claim, seconds |
| \`summary.md\` | one line per model and machine, from the rows |
| \`front.csv\` | memory on chip against makespan: every point worth having, with its bound |" \
        "Times are of the modelled machines, picoseconds; \`seconds\` are those of the schedule on this one. Every timeline
passed the checker."
    end_record
}
if wanted overlap; then
    if [ -z "${PLIMSOLL_CORPORA:-}" ]; then
        echo "overlap is left out: PLIMSOLL_CORPORA is not set" >&2
    else
        overlap_record
    fi
fi

# Every model and the three networks of S3 on every machine with tiers: all placements.
tiers_record() {
    begin_record "$prefix-tiers"
    graphs_of_families <scripts/graphs-tiers.txt
    for machine in s3-platform two-tier generic; do
        for graph in "${graphs[@]}"; do
            open_shapes "$graph"
            rows_of tiers "$graph" --machine "$machine" "${shapes[@]+"${shapes[@]}"}" --compare --time-limit 30
        done
    done
    awk -f scripts/tiers.awk "$out/rows.csv" >"$out/summary.md"
    describe Tiers "Made by \`scripts/results.sh tiers\`: \`plimsoll tiers MODEL --machine MACHINE --compare --time-limit 30\` on the three networks of
SOURCES S3, generated (the YOLO ones with elements of 8 bits), and, where there are, on the ONNX (batch 1) and TFLite models of the corpora, on all
machines that are built in. Operators fused across units, tensors with addresses. One thread." \
        "| \`rows.csv\` | one row per model, machine and placement: transfer time, bounds, gap, claim, traffic, seconds |
| \`summary.md\` | one line per model and machine, from the rows |" \
        "Times are of the modelled machines, picoseconds; \`seconds\` are those of the placement on this one. Gaps are against the best bound
that any placement proved. Every plan passed the checker, and every bound that is not a search was recomputed."
    end_record
}
if wanted tiers; then
    tiers_record
fi

# Generated networks and models, every method within units and across them.
fusion_record() {
    begin_record "$prefix-fusion"
    graphs_of_families <scripts/graphs-fusion.txt
    for patterns in default s3-joined chains; do
        for graph in "${graphs[@]}"; do
            open_shapes "$graph"
            options=(--patterns "$patterns" --units dla-gpu-cpu --time-limit 10)
            rows_of fuse "$graph" "${options[@]}" "${shapes[@]+"${shapes[@]}"}" --compare
        done
    done
    awk -f scripts/fusion.awk "$out/rows.csv" >"$out/summary.md"
    describe Fusion "Made by \`scripts/results.sh fusion\`: \`plimsoll fuse GRAPH --units dla-gpu-cpu --compare --time-limit 10\` with the patterns
\`default\`, \`s3-joined\` and \`chains\`, on generated networks and, where there are, the ONNX and TFLite models of the corpora. One thread." \
        "| \`rows.csv\` | one row per graph, patterns, rule and method: relations, groups, optimised, bound, claim, seconds; all regions |
| \`summary.md\` | one line per graph, patterns and rule, from the rows |" \
        "Every fusion passed the checker. Seconds are those of the method, without reading the model and finding matches."
    end_record
}
if wanted fusion; then
    fusion_record
fi

# Every graph at three capacities, in percent of its load: what goes to the slower tier.
spilling_record() {
    local load percent
    begin_record "$prefix-spilling"
    graphs_of_families <scripts/graphs.txt
    for graph in "${graphs[@]}"; do
        open_shapes "$graph"
        # Exit code 1: what operators need while they run does not fit into nothing.
        load=$({ "$binary" spill "$graph" "${shapes[@]+"${shapes[@]}"}" --capacity 0 --time-limit 1 --json || [ $? -eq 1 ]; } | grep -o '"load":[0-9]*' | cut -d: -f2)
        for percent in 75 50 25; do
            rows_of spill "$graph" "${shapes[@]+"${shapes[@]}"}" --capacity $((load * percent / 100)) --compare --time-limit 10
        done
    done
    if [ -n "${PLIMSOLL_CORPORA:-}" ]; then
        for graph in "$PLIMSOLL_CORPORA"/minimalloc/[A-K].*.csv; do
            for percent in 95 67; do
                rows_of spill "$graph" --capacity $((1048576 * percent / 100)) --compare --time-limit 10
            done
        done
    fi
    awk -f scripts/spilling.awk "$out/rows.csv" >"$out/summary.md"
    describe Spilling "Made by \`scripts/results.sh spilling\`: \`plimsoll spill GRAPH --capacity BYTES --compare --time-limit 10\` at 75, 50 and 25 percent of the
load, on the graphs that \`scripts/graphs.txt\` generates and, where there are, on the ONNX (batch 1) and TFLite models of the corpora; and at 95 and 67 percent
of a mebibyte on MiniMalloc's A to K. One thread." \
        "| \`rows.csv\` | one row per graph, capacity and algorithm: traffic, bound, claim, seconds |
| \`summary.md\` | one line per graph and capacity, from the rows |" \
        "Traffic is bytes moved between the chip and the slower tier. Gaps are against the best bound that any algorithm proved. What stays has a
layout within the capacity, which passed the checker."
    end_record
}
if wanted spilling; then
    spilling_record
fi

# Chains, generated networks and, where there are, models, with weights as fast as memory allows and at the pace of slower ones.
reality_record() {
    local pace options graph straight=()
    begin_record "$prefix-reality"
    graphs_of_families <<'FAMILIES'
lenet5
vgg16
resnet18
inception
randwire-ws --seed 1
FAMILIES
    for graph in "${graphs[@]}"; do
        # Silero branches.
        case "$graph" in */silero*) ;; *) straight+=("$graph") ;; esac
    done
    while read -r pace options; do
        # shellcheck disable=SC2086 # words of one line are arguments
        "$binary" measure run "${straight[@]}" --chains 8 --room 4194304 --repeat 7 --time-limit 60 $options \
            --out "$out/$pace" >/dev/null
    done <<'PACES'
memory --startup 10e-6
1GBps --bandwidth 1e9 --startup 20e-6
200MBps --bandwidth 200e6 --startup 20e-6
PACES
    {
        echo "# Reality record"
        echo
        echo "Made by \`scripts/results.sh reality\`: \`plimsoll measure run\` on eight random chains, generated networks and, where"
        echo "there are, the ONNX and TFLite models of the corpora. One folder per memory outside: \`memory\` copies as fast as this"
        echo "machine does, the others at 1 GB/s and 200 MB/s. Each has its own calibration, \`summary.md\`, and all samples."
        echo
        for pace in "$out"/*/; do
            echo "- \`$(basename "$pace")\`: $(grep -m1 '^\*\*Median' "$pace/summary.md")"
        done
    } >"$out/README.md"
    end_record
}
if wanted reality; then
    reality_record
fi
