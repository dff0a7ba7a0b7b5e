#!/usr/bin/env bash
# Runs a small sweep in Slurm and compares the merged rows with those of a sweep without Slurm. munged,
# slurmctld and slurmd run on this machine, in a scratch folder, on their own ports. The test is skipped if
# Slurm is not installed (on Debian: apt-get install slurm-wlm munge). The variable PLIMSOLL is the path of
# the command to test; if it is not set, the command is built.
set -euo pipefail
cd "$(dirname "$0")/.."

for tool in slurmctld slurmd sbatch squeue scontrol munged; do
    if ! PATH="$PATH:/usr/sbin:/sbin" command -v "$tool" >/dev/null; then
        echo "skipped: $tool is not installed"
        exit 0
    fi
done
export PATH="$PATH:/usr/sbin:/sbin"

if [ -z "${PLIMSOLL:-}" ]; then
    cargo build --release --locked --workspace
    PLIMSOLL="${CARGO_TARGET_DIR:-target}/release/plimsoll"
fi
PLIMSOLL=$(realpath "$PLIMSOLL")

scratch=$(mktemp -d /tmp/plimsoll-slurm.XXXXXX)
pids=()
finish() {
    code=$?
    trap - EXIT
    for ((at = ${#pids[@]} - 1; at >= 0; at--)); do
        kill "${pids[at]}" 2>/dev/null || true
        wait "${pids[at]}" 2>/dev/null || true
    done
    if [ "$code" -eq 0 ]; then
        rm -rf "$scratch"
    else
        echo "failed; logs are in $scratch" >&2
        tail -n 5 "$scratch"/*.log "$scratch"/sweep/slurm/*.log >&2 || true
    fi
    exit "$code"
}
trap finish EXIT

chmod 700 "$scratch"
mkdir "$scratch/state" "$scratch/spool"
head -c 1024 /dev/urandom >"$scratch/munge.key"
chmod 400 "$scratch/munge.key"
host=$(hostname -s)
cpus=$(nproc)
cat >"$scratch/slurm.conf" <<CONF
ClusterName=plimsoll
SlurmctldHost=$host(127.0.0.1)
SlurmUser=$(id -un)
SlurmdUser=$(id -un)
AuthType=auth/munge
AuthInfo=socket=$scratch/munge.socket
SlurmctldPort=26817
SlurmdPort=26818
StateSaveLocation=$scratch/state
SlurmdSpoolDir=$scratch/spool
SlurmctldPidFile=$scratch/slurmctld.pid
SlurmdPidFile=$scratch/slurmd.pid
ProctrackType=proctrack/pgid
TaskPlugin=task/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/none
ReturnToService=2
MinJobAge=300
NodeName=$host NodeAddr=127.0.0.1 CPUs=$cpus State=UNKNOWN
PartitionName=debug Nodes=ALL Default=YES MaxTime=INFINITE State=UP
CONF
export SLURM_CONF="$scratch/slurm.conf"

begin() {
    local log=$1
    shift
    "$@" >"$scratch/$log.log" 2>&1 &
    pids+=($!)
}
# Waits until a command succeeds, for at most a minute.
until_true() {
    for _ in $(seq 120); do
        if "$@" >/dev/null 2>&1; then return 0; fi
        sleep 0.5
    done
    echo "timeout after one minute: $*" >&2
    return 1
}

begin munged munged --foreground --force --key-file="$scratch/munge.key" --socket="$scratch/munge.socket" \
    --pid-file="$scratch/munged.pid" --log-file="$scratch/munged.own.log" --seed-file="$scratch/munge.seed"
until_true test -S "$scratch/munge.socket"
begin slurmctld slurmctld -D -c
begin slurmd slurmd -D -c
until_true scontrol ping
idle() { [ "$(sinfo --noheader --format=%T)" = idle ]; }
until_true idle
echo "slurm: $(sinfo --version), $(sinfo --noheader --format='%D node, %c processors, %T')"

cat >"$scratch/small.toml" <<SWEEP
seeds = "0..4"
[limits]
nodes = 200
[[instances]]
family = "uniform"
buffers = [20, 40]
seeds = "0..5"
[[algorithms]]
names = ["first-fit-size", "search"]
[[algorithms]]
names = "shared-greedy-by-size"
SWEEP
"$PLIMSOLL" sweep "$scratch/small.toml" --out "$scratch/whole" >/dev/null
"$PLIMSOLL" sweep "$scratch/small.toml" --out "$scratch/sweep" --slurm --array 4 --slurm-options '--time=5 --ntasks=1'
done_all() { [ -z "$(squeue --noheader)" ]; }
until_true done_all
cat "$scratch"/sweep/slurm/merge-*.log

# Prints all columns except measured times and memory.
steady() {
    python3 - "$1" <<'PYTHON'
import csv, sys
measured = {"seconds", "own_seconds", "phases", "peak_memory_bytes", "resident_bytes", "timestamp"}
for row in csv.DictReader(open(sys.argv[1], newline="")):
    print({name: value for name, value in row.items() if name not in measured})
PYTHON
}
if ! cmp <(steady "$scratch/whole/rows.csv") <(steady "$scratch/sweep/rows.csv"); then
    echo "the rows of the Slurm sweep differ from those of the plain sweep" >&2
    exit 1
fi
echo "the $(($(wc -l <"$scratch/sweep/rows.csv") - 1)) rows equal those of a sweep without Slurm"
