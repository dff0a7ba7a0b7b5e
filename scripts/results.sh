#!/usr/bin/env bash
# Regenerates the records in results/. The first three take about 15 minutes, and the others take longer.
#
#   benchmark    every heuristic and the default exact solver on the embedded instances and, if
#                PLIMSOLL_CORPORA is set, on real instances
#   scaling      ilp, smt and search on perfect packings of 20 to 200 buffers
#   ablation     the effect of each part of ilp, smt and search on perfect packings of 100 buffers
#   head-to-head exact and MiniMalloc decide the capacity of A to K: whole processes, one thread, median of
#                5 runs
#   robust       like head-to-head, on reversed and thinned variants of A to K, and on perfect packings
#   robust-tight like head-to-head, on thinned variants at their load, without any slack
#   attributed   like head-to-head, on perfect packings with alignments and gaps, the attributes that MiniMalloc
#                reads
#   captured     exact and MiniMalloc decide the load of the captured production plans
#   anytime      peak and bound over time of exact, iterated search, CP-SAT, idealloc and MiniMalloc
#   optima       proved optima of A to K: two threads, five seeds, ten seconds
#   rules        the effect of each rule of valley branching on A to K at their loads
#   above-load   proofs of optima above the load: search, ilp, smt, CP-SAT, one minute each
#   wide         like above-load, with nine to twelve simultaneously live buffers: about 90 minutes
#   recombined   exact and CP-SAT, two threads, one minute, on recombined instances with 12, 13, 14, 16 and 20
#                live buffers; SEED sets the first of ten seeds, LIVE selects rows: about an hour
#   refilled     the same on refilled instances A to K, three seeds from SEED, with peak and bound over time:
#                about an hour
#   captures     the same on memory pools that a compiler captured, and on these pools welded
#   proofs       proofs of the optima above the load, checked: sizes, and times relative to the search; needs an
#                idle machine
#   large        one million buffers of each family
#   orders       every order algorithm on generated graphs and, if PLIMSOLL_CORPORA is set, on real models, with
#                proofs of the optima
#   timelines    all schedules of every real model on every built-in machine
#   overlap      the Pareto front of on-chip memory and makespan, for the same models and machines
#   tiers        assignment of tensors to memory tiers by cross-unit fusion, local search and exact, for
#                generated networks and, if PLIMSOLL_CORPORA is set, for real models, on every built-in
#                machine
#   structure    conflicts from the structure of every graph: the cost of safety under concurrency, and the
#                errors of the rules of the memory-planning patent
#   reproduce    every paper: published numbers, computed numbers, differences, figures; branch merging
#                compared with the optimum, scheme by scheme
#   spilling     greedy and exact spilling at three capacities, on every graph
#   spilling-layouts  greedy and exact spilling at two capacities, on A to K
#   fusion       greedy and exact fusion of operators, within units and across them, on generated networks
#                and real models
#   reality      timelines executed on this machine and compared with predictions: needs two idle cores
#                for a few minutes
#
# Arguments select records: scripts/results.sh ablation robust
#
# The records from head-to-head to rules, refilled, captures, timelines, overlap and spilling-layouts need
# PLIMSOLL_CORPORA. Peers are found through PLIMSOLL_MINIMALLOC (the binary `minimalloc`), PLIMSOLL_IDEALLOC
# (the binary `offsets`) and PLIMSOLL_CPSAT (a Python with ortools, or 1 for python3); see
# scripts/peers/README.md. A peer whose variable is not set is skipped with a message. PLIMSOLL_RESULTS sets a
# folder other than results/.
set -euo pipefail
cd "$(dirname "$0")/.."

all="benchmark scaling ablation head-to-head robust robust-tight attributed captured anytime optima rules above-load wide recombined refilled captures proofs large orders timelines tiers fusion spilling spilling-layouts structure reproduce overlap reality"
for word in "$@"; do
    case " $all " in
        *" $word "*) ;;
        *)
            echo "unknown record '$word'; expected one of: $all" >&2
            exit 2
            ;;
    esac
done

release="$(realpath -m "${CARGO_TARGET_DIR:-target}")/release"
# For comparisons of whole processes, the command is built without HiGHS and z3, because loading them takes
# longer than solving most instances. The full command is built only if a record needs it.
lean="$release/plimsoll-lean"
cargo build --release --locked -p plimsoll-command --no-default-features
cp "$release/plimsoll" "$lean"
binary="$lean"
for word in "${@:-all}"; do
    # shellcheck disable=SC2194 # a list of words
    case " head-to-head robust robust-tight attributed captured recombined refilled captures proofs large " in
        *" $word "*) ;;
        *)
            cargo build --release --locked --workspace
            binary="$release/plimsoll"
            break
            ;;
    esac
done
prefix="${PLIMSOLL_RESULTS:-results}/$(date -u +%Y-%m-%d)-$(uname -m)"
only=" $* "

# Removes unfinished folders after a failure, so that the next call does not mistake them for records.
unfinished=()
trap 'rm -rf "${unfinished[@]:-}"' EXIT

wanted() {
    [ "$only" = "  " ] || [[ "$only" == *" $1 "* ]]
}

# Keeps the rows, the README and the charts that the documentation shows. `plimsoll bench` and `plimsoll report`
# regenerate everything else from the rows. Columns that the README states once, for the whole record, go too.
slim() { # folder of a record
    local folder=$1 name
    rm -rf "$folder"/{maps,layouts,trace.csv,experiment.json,experiment.lock}
    case "$folder" in
        *-head-to-head) find "$folder/charts" -type f ! -name profile.svg -delete ;;
        *-anytime) find "$folder/charts" -type f ! -name gap.svg -delete ;;
        *) rm -rf "$folder/charts" ;;
    esac
    for name in 'experiment.json' 'maps' 'layouts' 'trace.csv' 'charts/profile.svg' 'charts/gap'; do
        compgen -G "$folder/$name*" >/dev/null || sed -i "\#^| .$name#d" "$folder/README.md"
    done
    python3 - "$folder/rows.csv" <<'EOF'
import csv, sys
stated = {"rustc", "profile", "dirty", "commit", "timestamp", "resident_bytes", "layout"}
rows = list(csv.reader(open(sys.argv[1], newline="")))
kept = [at for at, name in enumerate(rows[0]) if name not in stated]
writer = csv.writer(open(sys.argv[1], "w", newline=""), lineterminator="\n")
writer.writerows([row[at] for at in kept] for row in rows)
EOF
}

record() {
    local name=$1
    shift
    if wanted "$name"; then
        "$binary" bench "$@" --out "$prefix-$name"
        slim "$prefix-$name"
    fi
}

# Peers are called by their bare names, so that records contain no paths. Their folders are prepended to the
# search path.
peers=()
found() { # peer, variable
    local path=${!2:-}
    if [ -z "$path" ]; then
        echo "$1 is skipped: $2 is not set (see scripts/peers/README.md)" >&2
        return 1
    fi
    if [ "$path" != 1 ]; then
        if [ ! -x "$path" ]; then
            echo "$1 is skipped: $2 is not an executable file: $path" >&2
            return 1
        fi
        PATH="$(cd "$(dirname "$path")" && pwd):$PATH"
        program=$(basename "$path")
    fi
}

# Prints the commit of the sources of a program, if the program is in a checkout.
commit_of() {
    git -C "$(dirname "$1")" log -1 --format='commit %H' 2>/dev/null || echo "commit unknown"
}

with_minimalloc() { # additional options
    if found MiniMalloc PLIMSOLL_MINIMALLOC; then
        peers+=(--external "minimalloc=$program --capacity={capacity} --input={input} --output={output}$1")
        peers+=(--external-version "minimalloc=echo $(commit_of "$PLIMSOLL_MINIMALLOC")")
        # MiniMalloc reports the time between reading and writing, with millisecond resolution.
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

has_corpora() { # record
    wanted "$1" || return 1
    if [ -z "${PLIMSOLL_CORPORA:-}" ]; then
        echo "$1 is skipped: PLIMSOLL_CORPORA is not set" >&2
        return 1
    fi
}

# Writes a record of real instances.
real_record() {
    if has_corpora "$1"; then
        record "$@" "${peers[@]+"${peers[@]}"}"
    fi
}

# Writes a record in which every run is a separate process.
process_record() {
    local binary=$lean
    real_record "$@" --processes --algorithms exact --seeds 5 --reference exact
}

# Prints an algorithm with each of its parameters.
ablated() {
    "$binary" list "$1" --json | grep -oE '"name":"(-|[a-z]+=)[^"]*"' | cut -d'"' -f4 | sed "s/^/$1:/" | paste -sd, -
}
ilp=$(ablated ilp),ilp:-bridges:-stacking:-positions:-absorb:-symmetry:-decide
smt=$(ablated smt),smt:-bridges:-positions:-absorb:-symmetry

record benchmark --time-limit 5
record scaling scaling --problems offsets --algorithms search,ilp,smt --time-limit 20
record ablation ablation --problems offsets --algorithms "search,ilp,smt,$(ablated search),$ilp,$smt" --time-limit 5

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
# Runs exact and MiniMalloc in separate processes, on instances of this build.
own_process_record() {
    local binary=$lean
    peers=()
    with_minimalloc ""
    record "$@" --processes --algorithms exact --reference exact "${peers[@]+"${peers[@]}"}"
}
if wanted attributed; then
    own_process_record attributed attributed --only '*-aligned-*,*-ragged-*,*-gaps-*' --decide --seeds 5 \
        --repeat 3 --time-limit 20
fi
if wanted captured; then
    own_process_record captured captured --decide=load --time-limit 10
fi
if wanted anytime; then
    peers=()
    with_cpsat
    with_idealloc
    with_minimalloc " --minimize_capacity --timeout={time_limit}s"
    real_record anytime minimalloc idealloc --only '?,G_1,resnet50,pangu_2.6B' --problems offsets \
        --algorithms exact,iterated-search --trace --time-limit 8
fi
if wanted optima; then
    peers=()
    real_record optima minimalloc --only '?' --problems offsets --algorithms exact --seeds 5 --threads 2 --time-limit 10
fi
if wanted rules; then
    peers=()
    real_record rules minimalloc --only 'A,C,D,E,I,J,K' --problems offsets --algorithms "search,$(ablated search)" --decide=load \
        --seeds 3 --reference search --time-limit 5
fi
if wanted above-load; then
    peers=()
    with_cpsat
    record above-load above-load --only '*-40-*,*-120-*' --problems offsets --algorithms search,ilp,smt --time-limit 60 \
        --reference search "${peers[@]+"${peers[@]}"}"
fi
if wanted wide; then
    peers=()
    with_cpsat
    record wide above-load-wide --problems offsets --algorithms search,ilp,smt --time-limit 60 \
        --reference search "${peers[@]+"${peers[@]}"}"
fi
# Compares exact with CP-SAT, with two threads for one minute.
beside_cpsat() { # record, instances, further options
    peers=()
    with_cpsat
    record "$@" --problems offsets --algorithms exact --threads 2 --time-limit 60 --reference exact \
        "${peers[@]+"${peers[@]}"}"
}

# Generates recombined instances with ten seeds per number of live buffers, and compares exact with CP-SAT on
# them.
recombined() {
    local folder="${CARGO_TARGET_DIR:-target}/recombined" folders=() live steps share
    rm -rf "$folder"
    while read -r live steps share; do
        if [[ " ${LIVE:-12 13 14 16 20} " == *" $live "* ]]; then
            "$lean" generate recombined --param "alive=$live" --param "steps=$steps" --param "continue=$share" \
                --seed "${SEED:-1}" --count 10 --out "$folder/live-$live"
            folders+=("$folder/live-$live")
        fi
    done <<<"12 20 70
13 22 72
14 24 75
16 24 75
20 24 75"
    beside_cpsat recombined "${folders[@]}"
}

# Derives three refilled instances from each of A to K, and compares exact with CP-SAT on them.
refilled() {
    local folder="${CARGO_TARGET_DIR:-target}/refilled" folders=() file
    has_corpora refilled || return 0
    rm -rf "$folder"
    for file in "$PLIMSOLL_CORPORA"/minimalloc/?.*.csv; do
        folders+=("$folder/$(basename "$file" .csv)")
        "$lean" generate refilled --of "$file" --seed "${SEED:-1}" --count 3 --out "${folders[-1]}"
    done
    beside_cpsat refilled "${folders[@]}" --trace
}

if wanted recombined; then
    recombined
fi
if wanted refilled; then
    refilled
fi
if has_corpora captures; then
    beside_cpsat captures dsa dsa-welded
fi
record proofs above-load above-load-wide --problems offsets --algorithms exact --proofs --time-limit 60
record large large --only '*-1000000' --problems offsets --algorithms exact --time-limit 28

# Records of graphs, and timelines on this machine.
. scripts/graph-records.sh
