# Start with `make run` and `make test`. Both install missing build dependencies first (see scripts/setup.sh).

TARGET := $(or $(CARGO_TARGET_DIR),target)

.PHONY: help setup run release test test-python test-executorch test-benchopt test-tflm test-minimalloc test-c test-web web overhead-c install-c test-veripb test-long package archive bench results captures report docs test-lean test-oldest test-workflows test-action deny semver

help:
	@echo "make run        build without HiGHS and z3; compare heuristics with proven optima in a table and an HTML page"
	@echo "                (PLIMSOLL_CORPORA=DIR adds real instances; TIME_LIMIT=S sets seconds per run, default 1)"
	@echo "make release    build the optimised command with every solver: $(TARGET)/release/plimsoll"
	@echo "make test       check format and lints, and run the tests"
	@echo "make test-python    build the Python package in $(TARGET)/python and test it (part of make test)"
	@echo "make test-executorch    plan networks through the API of ExecuTorch and run them (installs 6 GB)"
	@echo "make test-benchopt    run the benchmark of experiments/benchopt in a separate environment"
	@echo "make test-tflm  write plans into models; run them in tflite-micro and ONNX Runtime (needs PLIMSOLL_CORPORA)"
	@echo "make test-minimalloc    solve MiniMalloc's instances with its flags (needs PLIMSOLL_CORPORA)"
	@echo "                (PLIMSOLL_MINIMALLOC=FILE compares with the program itself)"
	@echo "make test-c     test the C library under sanitizers, on 100,000 random instances, and as installed"
	@echo "make web        build the browser page: $(TARGET)/page/plimsoll.html (needs Node)"
	@echo "make test-web   compare the page's engine with the command, and test the page in Chromium"
	@echo "make overhead-c    compare running times through the C library and in Rust (needs PLIMSOLL_CORPORA)"
	@echo "make install-c PREFIX=DIR    install the C library libplimsoll, its headers and its packages"
	@echo "make test-veripb    translate proofs of lower bounds for VeriPB, which checks them (installs it)"
	@echo "make test-long  run all tests, and check documentation, the wheel, the packages, and the build without HiGHS and z3"
	@echo "make package    pack the published crates; build, install and run them from the packed files alone"
	@echo "make archive    pack the command and the C library as release archives; check them without Rust"
	@echo "make bench      run Criterion benchmarks: checker, heuristics, search"
	@echo "make results    regenerate the records in results/"
	@echo "make captures   capture plans of compilers and runtimes; regenerate datasets/captured (installs 1.5 GB)"
	@echo "make report     analyse results/ into target/report/report.html (REPORT=DIR sets the folder)"
	@echo "make docs       build the book: $(TARGET)/book/index.html"
	@echo "make test-lean  test all crates except the Python package and the C library, without HiGHS and z3"
	@echo "make test-oldest    build the crates with the oldest supported Rust, without HiGHS and z3"
	@echo "make test-workflows    validate workflows, action and citation against their schemas; lint the scripts"
	@echo "make test-action    test the action for continuous integration of other projects (needs jq)"
	@echo "make deny       check licences, versions and sources of the dependencies with cargo-deny"
	@echo "make semver     compare the interfaces of the crates with those of the last release"
	@echo "make setup      only install build dependencies"

setup:
	@bash scripts/setup.sh

run:
	@bash scripts/setup.sh first
	cargo build --profile first --locked --package plimsoll-command --no-default-features
	$(TARGET)/first/plimsoll bench --time-limit $(or $(TIME_LIMIT),1) --out $(TARGET)/run --force --report

release: setup
	cargo build --release --locked --workspace

test: setup
	@bash scripts/test.sh

test-python: setup
	@bash scripts/python.sh

test-executorch: setup
	@bash scripts/executorch.sh

test-benchopt: setup
	@bash scripts/benchopt.sh

test-tflm:
	@bash scripts/setup.sh first
	@bash scripts/tflm.sh

test-minimalloc:
	@bash scripts/setup.sh first
	cargo test --locked --package plimsoll-command --no-default-features --test all \
		every_instance_of_minimalloc -- --ignored --nocapture

test-c:
	@bash scripts/setup.sh first
	@bash scripts/c.sh test

web:
	@bash scripts/setup.sh first
	@bash scripts/web.sh build

test-web:
	@bash scripts/setup.sh first
	@bash scripts/web.sh test

overhead-c:
	@bash scripts/setup.sh first
	@bash scripts/c.sh overhead

install-c:
	@bash scripts/setup.sh first
	@bash scripts/c.sh install $(or $(PREFIX),/usr/local)

test-veripb:
	@bash scripts/setup.sh first
	@bash scripts/veripb.sh test

test-long: setup
	@bash scripts/test.sh long

package:
	@bash scripts/setup.sh first
	@bash scripts/package.sh

archive:
	@bash scripts/setup.sh first
	@bash scripts/archive.sh

bench: setup
	cargo bench --locked --package plimsoll-lab --bench algorithms

results: setup
	@bash scripts/results.sh

captures:
	@bash scripts/setup.sh first
	@bash scripts/captures.sh

report: release
	$(TARGET)/release/plimsoll report results --out $(or $(REPORT),$(TARGET)/report) --title 'Plimsoll: results on record'

docs:
	@bash scripts/docs.sh

test-lean:
	@bash scripts/setup.sh first
	@bash scripts/lean.sh

test-oldest:
	@bash scripts/setup.sh first
	@bash scripts/lean.sh oldest

test-workflows:
	@bash scripts/workflows.sh

test-action:
	@bash scripts/setup.sh first
	@bash scripts/action-test.sh

deny:
	@bash scripts/deny.sh

semver:
	@bash scripts/semver.sh
