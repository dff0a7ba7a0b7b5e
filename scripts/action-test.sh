#!/usr/bin/env bash
# Tests scripts/action.sh: plans below the limit, above it, and that cannot be read. The variable PLIMSOLL is
# the path of an existing build of the command; if it is not set, the command is built.
set -euo pipefail
cd "$(dirname "$0")/.."
if [ -z "${PLIMSOLL:-}" ]; then
    cargo build --profile first --locked --package plimsoll-command --no-default-features
    PLIMSOLL=${CARGO_TARGET_DIR:-$PWD/target}/first/plimsoll
fi
PLIMSOLL=$(realpath "$PLIMSOLL")
script=$PWD/scripts/action.sh
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
mkdir instances layouts plans
printf 'id,lower,upper,size\na,0,2,4\nb,1,3,4\nc,2,4,4\n' >instances/net.csv
printf 'id,offset\na,0\nb,4\nc,8\n' >layouts/net.csv
printf 'id,lower,upper,size,offset\na,0,2,4,0\nb,1,3,4,4\nc,2,4,4,0\n' >'plans/odd|name.csv'
printf 'id,lower,upper,size,offset\na,0,2,x,0\n' >broken.csv

# Runs the script as the action does, and checks the exit code.
action() { # code, PATHS, MAX_GAP, assignments
    local code=0
    : >summary
    : >output
    env PLIMSOLL="$PLIMSOLL" PATHS="$2" MAX_GAP="$3" TIME_LIMIT= OPTIONS= "${@:4}" \
        GITHUB_STEP_SUMMARY=summary GITHUB_OUTPUT=output bash "$script" >log 2>&1 || code=$?
    if [ "$code" -ne "$1" ]; then
        echo "exit code $code instead of $1 for '$2' and $3 %:" >&2
        cat log >&2
        exit 1
    fi
}
contains() { # file, text
    if ! grep -qF -- "$2" "$1"; then
        echo "$1 does not contain '$2':" >&2
        cat "$1" >&2
        exit 1
    fi
}

# Below the limit: a glob, a pair of folders, a pair of files, and all options.
action 0 $'plans/*.csv\ninstances layouts\n\ninstances/net.csv layouts/net.csv' 50% \
    TIME_LIMIT=2 OPTIONS='--threads 1'
contains output worst-gap=50
contains output '| odd\|name | plans/odd\|name.csv | 8 | 8 | 0 | optimal | met |'
for file in output summary log; do
    contains "$file" '| net | layouts/net.csv | 12 | 8 | 50 | above the optimum | met |'
done

# A file name that looks like an option.
cp 'plans/odd|name.csv' ./--plot=x.csv
action 0 '*plot*.csv' 5
contains output '| --plot=x | --plot=x.csv | 8 |'

# Above the limit: the gap of the worst plan, and a row for every plan.
action 1 $'instances layouts\nplans' 49.9
contains output worst-gap=50
contains summary '| limit 49.9 % |'
contains summary '| 12 | 8 | 50 | above the optimum | **exceeded** |'
contains summary '| 8 | 8 | 0 | optimal | met |'

# Unreadable: the message and the other plans are in the summary.
action 2 $'broken.csv\ninstances layouts' 5
contains log '::error title=plimsoll audit::'
contains summary broken.csv
contains summary '**exceeded**'
action 2 'missing/*.csv' 5
contains log "'missing/*.csv' matches no file"
action 2 'a b c' 5
contains log 'more than two words'
action 2 plans ''
contains log "the input 'max-gap' is empty"
action 2 plans 5 OPTIONS=--nonsense
contains summary --nonsense

# A message with several lines is one error, and no command of its own.
printf '#!/usr/bin/env bash\nprintf "bad\\n::warning::%%s\\n" x >&2\nexit 2\n' >several
chmod +x several
action 2 plans 5 PLIMSOLL="$folder/several"
contains log 'audit::bad%0A::warning::x'
contains summary '    ::warning::x'

# Without a path of the command, cargo installs it once. This one copies it to the folder after --root.
mkdir bin
printf '#!/usr/bin/env bash\nmkdir -p "${@: -1}/bin"\ncp "%s" "${@: -1}/bin/"\necho "$PWD" >>%s/built\n' \
    "$PLIMSOLL" "$folder" >bin/cargo
chmod +x bin/cargo
for _ in first second; do
    action 0 plans 5 PLIMSOLL= RUNNER_TEMP="$folder/temporary" PATH="$folder/bin:$PATH"
done
if [ "$(cat built)" != "${script%/scripts/*}" ]; then
    echo "cargo ran in: $(cat built)" >&2
    exit 1
fi
echo "passed: the action below, at and above the limit, and with wrong inputs" >&2
