#!/usr/bin/env bash
# Validates the workflows, the action and CITATION.cff against their public JSON schemas, which the package
# check-jsonschema contains. Lints the scripts if shellcheck is installed.
set -euo pipefail
cd "$(dirname "$0")/.."
environment=${CARGO_TARGET_DIR:-$PWD/target}/workflows
python=$environment/bin/python
if ! python3 -c 'import sys; sys.exit(sys.version_info < (3, 10))' 2>/dev/null; then
    echo "no Python 3.10 or newer: the workflows are not validated" >&2
    exit 0
fi
"$python" -m pip --version >/dev/null 2>&1 || python3 -m venv --clear "$environment"
export PIP_DISABLE_PIP_VERSION_CHECK=1
"$python" -m pip install --quiet check-jsonschema==0.39.0

check() { # schema, files
    "$python" -m check_jsonschema --builtin-schema "$@"
}
check vendor.github-workflows .github/workflows/*.yml
check custom.github-workflows-require-timeout .github/workflows/*.yml
check vendor.github-actions action.yml
check vendor.citation-file-format --default-filetype yaml CITATION.cff
if command -v shellcheck >/dev/null; then shellcheck --severity=warning .ci/run scripts/*.sh; fi
