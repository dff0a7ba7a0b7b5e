#!/usr/bin/env bash
# Audits the memory plans of a project and fails if a plan is too far above its lower bound. action.yml runs
# this script in the folder of the calling project, with the inputs of the action in these variables:
#
#   PATHS        one audit per line: a file, folder or glob with plans, or INSTANCE LAYOUT, FOLDER LAYOUTS
#   MAX_GAP      largest allowed gap in percent
#   TIME_LIMIT   seconds per search, or empty
#   OPTIONS      further options of `plimsoll audit`, separated by spaces
#   PLIMSOLL     path of an installed command; if empty, cargo installs the one of this repository
#
# Prints a table in Markdown and appends it to GITHUB_STEP_SUMMARY. Writes the outputs of the action to
# GITHUB_OUTPUT. Exits with 1 if a plan exceeds the limit or is not sound, and with 2 or more if an input is
# wrong or a plan cannot be read. The other plans are audited all the same.
set -euo pipefail
shopt -s nullglob

# Prints an error for the log. Without the replacements, a second line could be a command of its own.
complain() { # message
    local text=${1//%/%25}
    text=${text//$'\r'/%0D}
    echo "::error title=plimsoll audit::${text//$'\n'/%0A}"
}

fail() { # message
    complain "$1"
    exit 2
}

install() {
    local root=${RUNNER_TEMP:?must name a folder for the command, or PLIMSOLL the command}/plimsoll
    PLIMSOLL=$root/bin/plimsoll
    if [ ! -x "$PLIMSOLL" ]; then
        # In the repository of the command, because rust-toolchain.toml there selects the compiler.
        (cd "$(dirname "$0")/.." && cargo install --locked --quiet --path experiments/command \
            --no-default-features --bin plimsoll --root "$root")
    fi
}

# Audits one plan or folder, and appends its report. Keeps the highest exit code.
audit() { # paths, which may start with a hyphen
    local code=0 message
    message=$("$PLIMSOLL" audit --max-gap "$MAX_GAP" ${TIME_LIMIT:+--time-limit "$TIME_LIMIT"} \
        "${options[@]+"${options[@]}"}" --json -- "$@" 2>&1 >>"$reports" </dev/null) || code=$?
    if [ "$code" -gt 1 ]; then
        complain "$message"
        errors+=("$message")
    fi
    if [ "$code" -gt "$worst" ]; then worst=$code; fi
}

# Makes table rows of the reports. Names may contain characters that Markdown or the table would interpret.
rows() {
    jq --raw-output '
        def text: gsub("[[:cntrl:]]"; " ") | gsub("&"; "&amp;") | gsub("<"; "&lt;")
            | gsub("(?<c>[|`*_\\[\\]\\\\])"; "\\\(.c)");
        def percent: if . == null then "-" else (. * 100 | round / 100 | tostring) end;
        (.cases // [.])[]
        | [.instance, .planner, .planner_peak, .lower_bound, (.gap_percent | percent), .verdict,
           if .within then "met" else "**exceeded**" end]
        | (.[0] |= text) | (.[1] |= text) | "| " + (map(tostring) | join(" | ")) + " |"' "$reports"
}

if [ -z "${PATHS:-}" ]; then fail "the input 'paths' is empty"; fi
if [ -z "${MAX_GAP:-}" ]; then fail "the input 'max-gap' is empty"; fi
if ! command -v jq >/dev/null; then fail "jq is not installed"; fi
if [ -z "${PLIMSOLL:-}" ]; then install; fi
read -r -a options <<<"${OPTIONS:-}"
reports=$(mktemp)
trap 'rm -f "$reports"' EXIT
worst=0
errors=()
while read -r -a words; do
    case ${#words[@]} in
    0) ;;
    1)
        # shellcheck disable=SC2206 # a glob
        files=(${words[0]})
        if [ "${#files[@]}" -eq 0 ] || [ ! -e "${files[0]}" ]; then
            fail "paths: '${words[0]}' matches no file"
        fi
        for file in "${files[@]}"; do audit "$file"; done
        ;;
    2) audit "${words[@]}" ;;
    *) fail "paths: '${words[*]}' has more than two words; a name must not contain a space" ;;
    esac
done <<<"$PATHS"

# The gap of an invalid plan has no meaning.
gap=$(jq --slurp --raw-output '[.[] | (.cases // [.])[]
    | select(.verdict | IN("optimal", "above the optimum", "open"))
    | .gap_percent | numbers] | max // ""' "$reports")
table="| instance | planner | peak (bytes) | lower bound | gap % | verdict | limit ${MAX_GAP%%[ %]*} % |
|---|---|---:|---:|---:|---|---|
$(rows)"
echo "$table"
{
    echo "## Memory plans"
    echo
    echo "$table"
    for message in "${errors[@]+"${errors[@]}"}"; do printf '\n    %s\n' "${message//$'\n'/$'\n    '}"; done
} >>"${GITHUB_STEP_SUMMARY:-/dev/null}"
{
    echo "worst-gap=$gap"
    echo "table<<end of table"
    echo "$table"
    echo "end of table"
} >>"${GITHUB_OUTPUT:-/dev/null}"
exit "$worst"
