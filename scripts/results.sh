#!/usr/bin/env bash
# Regenerates the records in results/, about a quarter of an hour for the first three and a little more for the others:
#   benchmark    every heuristic and the default exact solver on the embedded instances and, where PLIMSOLL_CORPORA is
#                set, on the real ones
#   scaling      how far ilp, smt and search get on perfect packings of 20 to 200 buffers
#   ablation     what each part of ilp, smt and search buys on perfect packings of 100 buffers
#   head-to-head ours and MiniMalloc decide the capacity of A to K: whole processes, one thread, median of 5 runs
#   robust       the same on reversed and thinned variants of A to K, and on perfect packings
#   robust-tight the same on thinned variants at their load, where nothing is to spare
#   anytime      peak and bound over time, ours beside CP-SAT, idealloc and MiniMalloc
#   optima       proved optima of A to K: two threads, five seeds, ten seconds
#   rules        what each rule of valley branching buys on A to K at their loads
#   above-load   proofs of optima above the load: search, ilp, smt, CP-SAT, a minute each
#   wide         the same with more alive at a time, nine to twelve: about an hour and a half
#   large        a million buffers of each family
#   orders       every order algorithm on generated graphs and, where PLIMSOLL_CORPORA is set, on real models
#   overlap      every real model on every machine that is built in: schedules and fronts
#   tiers        tensors in tiers of memory: S3's placement, local search, exact, on every real model and every built-in machine
#   structure    conflicts from the structure of every graph: what safety under concurrency costs, and where a patent's rules go wrong
#   branches     branches merged into blocks against the optimum: the paper's tables and figures, every scheme side by side
#   fusion       groups of operators, greedy and proved, within units and across them: generated networks and real models
#   reality      timelines executed on this machine beside what was predicted: needs two cores without other work, some minutes
# With words, only those records: scripts/results.sh ablation robust
#
# Those from head-to-head to rules need PLIMSOLL_CORPORA. Peers are found through PLIMSOLL_MINIMALLOC (its binary), PLIMSOLL_IDEALLOC (the
# binary `offsets`) and PLIMSOLL_CPSAT (a Python with ortools, or 1 for python3); see scripts/peers/README.md. One that is
# not set is left out, with a message. PLIMSOLL_RESULTS names another folder than results/.
set -euo pipefail
cd "$(dirname "$0")/.."

all="benchmark scaling ablation head-to-head robust robust-tight anytime optima rules above-load wide large orders structure branches overlap tiers fusion reality"
for word in "$@"; do
    case " $all " in
        *" $word "*) ;;
        *)
            echo "unknown record '$word'; known are: $all" >&2
            exit 2
            ;;
    esac
done

release="${CARGO_TARGET_DIR:-target}/release"
# Where whole processes are compared, ours is built without HiGHS and z3: loading them takes longer than most of the
# instances do.
lean="$release/plimsoll-lean"
cargo build --release --locked -p plimsoll --no-default-features
cp "$release/plimsoll" "$lean"
cargo build --release --locked --workspace
binary="$release/plimsoll"
prefix="${PLIMSOLL_RESULTS:-results}/$(date -u +%Y-%m-%d)-$(uname -m)"
only=" $* "

# What a failing command leaves half made is removed, so that the next call does not take it for a record.
unfinished=()
trap 'rm -rf "${unfinished[@]:-}"' EXIT

wanted() {
    [ "$only" = "  " ] || [[ "$only" == *" $1 "* ]]
}

record() {
    local name=$1
    shift
    if wanted "$name"; then
        "$binary" bench "$@" --out "$prefix-$name"
    fi
}

# Peers by their bare names, so that records hold no paths: their folders go in front of the search path.
peers=()
found() { # what, variable
    local path=${!2:-}
    if [ -z "$path" ]; then
        echo "$1 is left out: $2 is not set (see scripts/peers/README.md)" >&2
        return 1
    fi
    if [ "$path" != 1 ]; then
        if [ ! -x "$path" ]; then
            echo "$1 is left out: $2 names no program: $path" >&2
            return 1
        fi
        PATH="$(cd "$(dirname "$path")" && pwd):$PATH"
        program=$(basename "$path")
    fi
}

# The commit of the sources a program was built from, where it lies in a checkout.
commit_of() {
    git -C "$(dirname "$1")" log -1 --format='commit %H' 2>/dev/null || echo "commit unknown"
}

with_minimalloc() { # further options
    if found MiniMalloc PLIMSOLL_MINIMALLOC; then
        peers+=(--external "minimalloc=$program --capacity={capacity} --input={input} --output={output}$1")
        peers+=(--external-version "minimalloc=echo $(commit_of "$PLIMSOLL_MINIMALLOC")")
        # From after reading to before writing, to the millisecond.
        peers+=(--external-elapsed 'minimalloc=Elapsed time ([0-9.]+)s')
    fi
}

with_idealloc() {
    if found idealloc PLIMSOLL_IDEALLOC; then
        peers+=(--external "idealloc=env RAYON_NUM_THREADS={threads} $program --input {input} --output {output} --time-limit {time_limit}")
        peers+=(--external-version "idealloc=echo $(commit_of "$PLIMSOLL_IDEALLOC")")
    fi
}

with_cpsat() {
    program=python3
    if found CP-SAT PLIMSOLL_CPSAT; then
        local line="scripts/peers/cpsat.py --input {input} --output {output} --time-limit {time_limit}"
        peers+=(--external "cp-sat=$program $line --workers {threads} --seed {seed}")
        peers+=(--external-version "cp-sat=$program -c 'import ortools; print(\"ortools\", ortools.__version__)'")
    fi
}

# Records of real instances.
real_record() {
    if [ -z "${PLIMSOLL_CORPORA:-}" ]; then
        echo "$1 is left out: PLIMSOLL_CORPORA is not set" >&2
    else
        record "$@" "${peers[@]+"${peers[@]}"}"
    fi
}

# Records of whole processes.
process_record() {
    local binary=$lean
    real_record "$@" --processes --solvers exact --seeds 5 --reference exact
}

variants=$("$binary" list --json | grep -o '"name":"[a-z]*:[a-z-]*"' | cut -d'"' -f4 | paste -sd, -)

record benchmark --time-limit 5
record scaling scaling --problems offsets --solvers search,ilp,smt --time-limit 20
record ablation ablation --problems offsets --solvers "search,ilp,smt,$variants" --time-limit 5

if wanted head-to-head; then
    peers=()
    with_minimalloc ""
    process_record head-to-head minimalloc --only '?' --decide --repeat 3 --time-limit 20
fi
if wanted robust; then
    peers=()
    with_minimalloc ""
    process_record robust minimalloc-reversed minimalloc-thinned packings \
        --only '?-reversed,?-thinned-*,guillotine-*,perfect-*' --decide --time-limit 10
fi
if wanted robust-tight; then
    peers=()
    with_minimalloc ""
    process_record robust-tight minimalloc-thinned --only '?-thinned-*' --decide=load --time-limit 10
fi
if wanted anytime; then
    peers=()
    with_cpsat
    with_idealloc
    with_minimalloc " --minimize_capacity --timeout={time_limit}s"
    real_record anytime minimalloc idealloc --only '?,G_1,resnet50,pangu_2.6B' --problems offsets \
        --solvers exact,iterated-search --trace --time-limit 8
fi
if wanted optima; then
    peers=()
    real_record optima minimalloc --only '?' --problems offsets --solvers exact --seeds 5 --threads 2 --time-limit 10
fi
if wanted rules; then
    peers=()
    rules=$("$binary" list --json | grep -o '"name":"search:[a-z-]*"' | cut -d'"' -f4 | paste -sd, -)
    real_record rules minimalloc --only 'A,C,D,E,I,J,K' --problems offsets --solvers "search,$rules" --decide=load \
        --seeds 3 --reference search --time-limit 5
fi
if wanted above-load; then
    peers=()
    with_cpsat
    record above-load above-load --only '*-40-*,*-120-*' --problems offsets --solvers search,ilp,smt --time-limit 60 \
        --reference search "${peers[@]+"${peers[@]}"}"
fi
if wanted wide; then
    peers=()
    with_cpsat
    record wide above-load-wide --problems offsets --solvers search,ilp,smt --time-limit 60 \
        --reference search "${peers[@]+"${peers[@]}"}"
fi
record large large --only '*-1000000' --problems offsets --solvers exact --time-limit 28

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

# One graph after the other, each by every order algorithm: rows.csv as they come, summary.md with one line per graph.
orders_record() {
    local out=$1 scratch family graph
    if [ -e "$out" ]; then
        echo "$out is there already" >&2
        exit 2
    fi
    scratch=$(mktemp -d)
    unfinished=("$scratch" "$out")
    while read -r family; do
        # shellcheck disable=SC2086 # words of one line are arguments
        (cd "$scratch" && "$binary" generate $family >/dev/null)
    done <scripts/graphs.txt
    local graphs=("$scratch"/*.json) options=()
    if [ -n "${PLIMSOLL_CORPORA:-}" ]; then
        graphs+=("$PLIMSOLL_CORPORA"/onnx/*.onnx "$PLIMSOLL_CORPORA"/tflite/*.tflite)
    fi
    mkdir -p "$out"
    for graph in "${graphs[@]}"; do
        options=()
        case "$graph" in
            # One sequence of 512 samples with 64 of context.
            */silero*) options=(--input-shape input=1x576 --input-shape state=2x1x128) ;;
        esac
        "$binary" order "$graph" "${options[@]+"${options[@]}"}" --compare --time-limit 10 --output "$scratch/rows.csv" >/dev/null
        append_rows "$scratch/rows.csv" "$out/rows.csv"
    done
    awk -f scripts/orders.awk "$out/rows.csv" >"$out/summary.md"
    {
        echo "# Orders record"
        echo
        echo "Made by \`scripts/results.sh orders\`: \`plimsoll order GRAPH --compare --time-limit 10\` on the graphs that"
        echo "\`scripts/graphs.txt\` generates and, where there are, on the ONNX and TFLite models of the corpora. One thread."
        echo
        made_with
        echo
        echo "| file | holds |"
        echo "|---|---|"
        echo "| \`rows.csv\` | one row per graph and algorithm: peak, bound, claim, seconds, of the body of the graph |"
        echo "| \`summary.md\` | one line per graph, from the rows |"
        echo
        echo "Peaks and bounds are bytes alive: inputs and outputs in the arena while needed, weights outside, views shared,"
        echo "nothing in place. Every order passed the checker. Seconds are those of the algorithm on the body."
    } >"$out/README.md"
    rm -rf "$scratch"
    unfinished=()
}
if wanted orders; then
    orders_record "$prefix-orders"
fi

# Every relation of conflicts on the graphs of the orders: rows.csv as they come, summary.md with one line per graph.
structure_record() {
    local out=$1 scratch family graph
    if [ -e "$out" ]; then
        echo "$out is there already" >&2
        exit 2
    fi
    scratch=$(mktemp -d)
    trap 'rm -rf "$scratch"' RETURN
    while read -r family; do
        # shellcheck disable=SC2086 # words of one line are arguments
        (cd "$scratch" && "$binary" generate $family >/dev/null)
    done <scripts/graphs.txt
    local graphs=("$scratch"/*.json) options=()
    if [ -n "${PLIMSOLL_CORPORA:-}" ]; then
        graphs+=("$PLIMSOLL_CORPORA"/onnx/*.onnx "$PLIMSOLL_CORPORA"/tflite/*.tflite)
    fi
    mkdir -p "$out"
    for graph in "${graphs[@]}"; do
        options=()
        case "$graph" in
            */silero*) options=(--input-shape input=1x576 --input-shape state=2x1x128) ;;
        esac
        "$binary" plan "$graph" "${options[@]+"${options[@]}"}" --conflicts compare --time-limit 10 --output "$scratch/rows.csv" >/dev/null
        append_rows "$scratch/rows.csv" "$out/rows.csv"
    done
    awk -f scripts/structure.awk "$out/rows.csv" >"$out/summary.md"
    {
        echo "# Structure record"
        echo
        echo "Made by \`scripts/results.sh structure\`: \`plimsoll plan GRAPH --conflicts compare --time-limit 10\` on the graphs that"
        echo "\`scripts/graphs.txt\` generates and, where there are, on the ONNX and TFLite models of the corpora. One thread."
        echo
        made_with
        echo
        echo "| file | holds |"
        echo "|---|---|"
        echo "| \`rows.csv\` | one row per graph and relation: pairs, clique, the patent's placement and the best in one piece and in pieces, pairs that collide |"
        echo "| \`summary.md\` | one line per graph, from the rows |"
        echo
        echo "Bytes of the body of the graph, inputs and outputs in the arena while needed, weights outside, views shared, nothing in"
        echo "place; all relations see the same order. Every placement passed the checker of its conflicts and, but for \`mutex\`, that of"
        echo "races. Pairs that collide are those of the placement in one piece."
    } >"$out/README.md"
}
if wanted structure; then
    structure_record "$prefix-structure"
fi
if wanted branches; then
    if [ -e "$prefix-branches" ]; then
        echo "$prefix-branches is there already" >&2
        exit 2
    fi
    "$binary" reproduce S0 --out "$prefix-branches" >/dev/null
fi

# Every model on every machine: rows.csv with all schedules, front.csv with memory against makespan.
overlap_record() {
    local out=$1 scratch model machine options
    if [ -e "$out" ]; then
        echo "$out is there already" >&2
        exit 2
    fi
    scratch=$(mktemp -d)
    unfinished=("$scratch" "$out")
    mkdir -p "$out"
    for machine in luna ethos-u generic; do
        for model in "$PLIMSOLL_CORPORA"/onnx/*.onnx "$PLIMSOLL_CORPORA"/tflite/*.tflite; do
            options=(--machine "$machine" --boundary outside)
            case "$model" in
                *.onnx) options+=(--batch 1) ;;
            esac
            case "$model" in
                */silero*) options+=(--input-shape input=1x576 --input-shape state=2x1x128) ;;
            esac
            # Exit code 1 says that nothing fits, which is a row too.
            "$binary" overlap "$model" "${options[@]}" --output "$scratch/rows.csv" >/dev/null || [ $? -eq 1 ]
            append_rows "$scratch/rows.csv" "$out/rows.csv"
            rm -f "$scratch/front.csv"
            "$binary" overlap "$model" "${options[@]}" --front --output "$scratch/front.csv" >/dev/null || [ $? -eq 1 ]
            if [ -e "$scratch/front.csv" ]; then
                append_rows "$scratch/front.csv" "$out/front.csv"
            fi
        done
    done
    awk -f scripts/overlap.awk "$out/rows.csv" >"$out/summary.md"
    {
        echo "# Overlap record"
        echo
        echo "Made by \`scripts/results.sh overlap\`: \`plimsoll overlap MODEL --machine MACHINE --boundary outside\`, and the same with"
        echo "\`--front\`, on the ONNX (batch 1) and TFLite models of the corpora and all machines that are built in. One thread."
        echo
        made_with
        echo
        echo "| file | holds |"
        echo "|---|---|"
        echo "| \`rows.csv\` | one row per model, machine and schedule: makespan, bound, gap, claim, seconds |"
        echo "| \`summary.md\` | one line per model and machine, from the rows |"
        echo "| \`front.csv\` | memory on chip against makespan: every point worth having, with its bound |"
        echo
        echo "Times are of the modelled machines, picoseconds; \`seconds\` are those of the schedule on this one. Every timeline"
        echo "passed the checker."
    } >"$out/README.md"
    rm -rf "$scratch"
    unfinished=()
}
if wanted overlap; then
    if [ -z "${PLIMSOLL_CORPORA:-}" ]; then
        echo "overlap is left out: PLIMSOLL_CORPORA is not set" >&2
    else
        overlap_record "$prefix-overlap"
    fi
fi

# Every model on every machine with tiers: rows.csv with all placements. The networks of S3 are generated.
tiers_record() {
    local out=$1 scratch model machine options network
    if [ -e "$out" ]; then
        echo "$out is there already" >&2
        exit 2
    fi
    scratch=$(mktemp -d)
    trap 'rm -rf "$scratch"' RETURN
    for network in yolov5s yolox-nano; do
        "$binary" generate "$network" --param int8=1 --out "$scratch/$network.json" >/dev/null
    done
    local graphs=("$scratch"/*.json)
    if [ -n "${PLIMSOLL_CORPORA:-}" ]; then
        graphs+=("$PLIMSOLL_CORPORA"/onnx/*.onnx "$PLIMSOLL_CORPORA"/tflite/*.tflite)
    else
        echo "tiers goes without models: PLIMSOLL_CORPORA is not set" >&2
    fi
    mkdir -p "$out"
    for machine in s3-platform two-tier generic; do
        for model in "${graphs[@]}"; do
            options=(--machine "$machine" --time-limit 30)
            case "$model" in
                *.onnx) options+=(--batch 1) ;;
            esac
            case "$model" in
                */silero*) options+=(--input-shape input=1x576 --input-shape state=2x1x128) ;;
            esac
            # Exit code 1 says that nothing fits, which is a row too.
            "$binary" tiers "$model" "${options[@]}" --compare --output "$scratch/rows.csv" >/dev/null || [ $? -eq 1 ]
            append_rows "$scratch/rows.csv" "$out/rows.csv"
        done
    done
    awk -f scripts/tiers.awk "$out/rows.csv" >"$out/summary.md"
    {
        echo "# Tiers record"
        echo
        echo "Made by \`scripts/results.sh tiers\`: \`plimsoll tiers MODEL --machine MACHINE --compare --time-limit 30\` on the two networks of"
        echo "SOURCES S3, generated with elements of 8 bits, and, where there are, on the ONNX (batch 1) and TFLite models of the corpora, on all"
        echo "machines that are built in. Operators fused across units, tensors with addresses. One thread."
        echo
        made_with
        echo
        echo "| file | holds |"
        echo "|---|---|"
        echo "| \`rows.csv\` | one row per model, machine and placement: transfer time, bounds, gap, claim, traffic, seconds |"
        echo "| \`summary.md\` | one line per model and machine, from the rows |"
        echo
        echo "Times are of the modelled machines, picoseconds; \`seconds\` are those of the placement on this one. Gaps are against the best bound"
        echo "that any placement proved. Every plan passed the checker, and every bound that is not a search was recomputed."
    } >"$out/README.md"
}
if wanted tiers; then
    tiers_record "$prefix-tiers"
fi

# Generated networks and, where there are, models, every method within units and across them: rows.csv, summary.md.
fusion_record() {
    local out=$1 scratch family graph options patterns
    if [ -e "$out" ]; then
        echo "$out is there already" >&2
        exit 2
    fi
    scratch=$(mktemp -d)
    trap 'rm -rf "$scratch"' RETURN
    for family in "vgg16 --param classifier=0" yolov5s yolox-nano resnet18 inception darts nasnet-a "llama-13b --param layers=4"; do
        # shellcheck disable=SC2086 # words of one line are arguments
        (cd "$scratch" && "$binary" generate $family >/dev/null)
    done
    local graphs=("$scratch"/*.json)
    if [ -n "${PLIMSOLL_CORPORA:-}" ]; then
        graphs+=("$PLIMSOLL_CORPORA"/onnx/*.onnx "$PLIMSOLL_CORPORA"/tflite/*.tflite)
    else
        echo "fusion goes without models: PLIMSOLL_CORPORA is not set" >&2
    fi
    mkdir -p "$out"
    for patterns in default s3-joined chains; do
        for graph in "${graphs[@]}"; do
            options=(--patterns "$patterns" --units dla-gpu-cpu --time-limit 10)
            case "$graph" in
                */silero*) options+=(--input-shape input=1x576 --input-shape state=2x1x128) ;;
                *.onnx) options+=(--batch 1) ;;
            esac
            "$binary" fuse "$graph" "${options[@]}" --compare --output "$scratch/rows.csv" >/dev/null
            append_rows "$scratch/rows.csv" "$out/rows.csv"
        done
    done
    awk -f scripts/fusion.awk "$out/rows.csv" >"$out/summary.md"
    {
        echo "# Fusion record"
        echo
        echo "Made by \`scripts/results.sh fusion\`: \`plimsoll fuse GRAPH --units dla-gpu-cpu --compare --time-limit 10\` with the patterns"
        echo "\`default\`, \`s3-joined\` and \`chains\`, on generated networks and, where there are, the ONNX and TFLite models of the corpora. One thread."
        echo
        made_with
        echo
        echo "| file | holds |"
        echo "|---|---|"
        echo "| \`rows.csv\` | one row per graph, patterns, rule and method: relations, groups, optimised, bound, claim, seconds; all regions |"
        echo "| \`summary.md\` | one line per graph, patterns and rule, from the rows |"
        echo
        echo "Every fusion passed the checker. Seconds are those of the method, without reading the model and finding matches."
    } >"$out/README.md"
}
if wanted fusion; then
    fusion_record "$prefix-fusion"
fi

# Chains, generated networks and, where there are, models, with weights as fast as memory allows and at the pace of slower ones.
reality_record() {
    local out=$1 scratch family pace
    if [ -e "$out" ]; then
        echo "$out is there already" >&2
        exit 2
    fi
    scratch=$(mktemp -d)
    unfinished=("$scratch" "$out")
    for family in lenet5 vgg16 resnet18 inception "randwire-ws --seed 1"; do
        # shellcheck disable=SC2086 # words of one line are arguments
        (cd "$scratch" && "$binary" generate $family >/dev/null)
    done
    local graphs=("$scratch"/*.json)
    if [ -n "${PLIMSOLL_CORPORA:-}" ]; then
        graphs+=("$PLIMSOLL_CORPORA"/onnx/light_*.onnx "$PLIMSOLL_CORPORA"/tflite/*.tflite)
    else
        echo "reality goes without models: PLIMSOLL_CORPORA is not set" >&2
    fi
    mkdir -p "$out"
    while read -r pace options; do
        # shellcheck disable=SC2086 # words of one line are arguments
        "$binary" measure run "${graphs[@]}" --chains 8 --room 4194304 --repeat 7 --time-limit 60 $options \
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
    rm -rf "$scratch"
    unfinished=()
}
if wanted reality; then
    reality_record "$prefix-reality"
fi
