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

# The networks of datasets/data/networks.txt as files; and, where there are, all models.
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

# The problems of graphs by every algorithm: networks and, where there are, models of the corpora.
peers=()
models=()
if [ -n "${PLIMSOLL_CORPORA:-}" ]; then
    models=(onnx tflite)
fi
networks=(networks "${models[@]+"${models[@]}"}")
accelerated=(accelerated "${models[@]+"${models[@]}"}")
record orders "${networks[@]}" --problems orders --solvers all --time-limit 10
record tiers "${accelerated[@]}" --problems tiers --solvers all --time-limit 30 \
    --terms machine=s3-platform --terms machine=two-tier --terms machine=generic
fusions=()
for patterns in default s3-joined chains; do
    for rule in ordinary cross-unit; do
        fusions+=(--terms "patterns=$patterns units=dla-gpu-cpu fusion=$rule")
    done
done
record fusion "${accelerated[@]}" --problems fusion --solvers all --time-limit 10 "${fusions[@]}"
record spilling "${networks[@]}" --problems spilling --solvers all --time-limit 10 \
    --terms capacity=75% --terms capacity=50% --terms capacity=25%
# At 95 and 67 percent of a mebibyte.
real_record spilling-layouts minimalloc --only '?' --problems spilling --solvers all --time-limit 10 \
    --terms capacity=996147 --terms capacity=702545
real_record timelines onnx tflite --problems timelines --solvers all --node-limit 20000 --time-limit 60 \
    --terms 'machine=luna boundary=outside' --terms 'machine=ethos-u boundary=outside' \
    --terms 'machine=generic boundary=outside'

# Every relation of conflicts on the graphs of the orders.
structure_record() {
    begin_record "$prefix-structure"
    graphs_of_families <datasets/data/networks.txt
    for graph in "${graphs[@]}"; do
        open_shapes "$graph" own
        rows_of plan "$graph" "${shapes[@]+"${shapes[@]}"}" --conflicts compare --time-limit 10
    done
    describe Structure "Made by \`scripts/results.sh structure\`: \`plimsoll plan GRAPH --conflicts compare --time-limit 10\` on the graphs that
\`datasets/data/networks.txt\` generates and, where there are, on the ONNX and TFLite models of the corpora. One thread." \
        "| \`rows.csv\` | one row per graph and relation: pairs, clique, the patent's placement and the best in one piece and in pieces, pairs that collide |" \
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

# Every model on every machine: memory against makespan.
overlap_record() {
    begin_record "$prefix-overlap"
    for machine in luna ethos-u generic; do
        for model in "$PLIMSOLL_CORPORA"/onnx/*.onnx "$PLIMSOLL_CORPORA"/tflite/*.tflite; do
            open_shapes "$model"
            rm -f "$scratch/front.csv"
            # Exit code 1 says that nothing fits.
            "$binary" overlap "$model" --machine "$machine" --boundary outside "${shapes[@]+"${shapes[@]}"}" --front \
                --output "$scratch/front.csv" >/dev/null || [ $? -eq 1 ]
            if [ -e "$scratch/front.csv" ]; then
                append_rows "$scratch/front.csv" "$out/front.csv"
            fi
        done
    done
    describe Overlap "Made by \`scripts/results.sh overlap\`: \`plimsoll overlap MODEL --machine MACHINE --boundary outside --front\` on the ONNX (batch 1)
and TFLite models of the corpora and all machines that are built in. One thread." \
        "| \`front.csv\` | memory on chip against makespan: every point worth having, with its bound |" \
        "Times are of the modelled machines, picoseconds. Every timeline passed the checker."
    end_record
}
if wanted overlap; then
    if [ -z "${PLIMSOLL_CORPORA:-}" ]; then
        echo "overlap is left out: PLIMSOLL_CORPORA is not set" >&2
    else
        overlap_record
    fi
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
