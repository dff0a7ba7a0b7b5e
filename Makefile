# The two commands to know: `make run` and `make test`. Both install what is missing first (see scripts/setup.sh).

TARGET := $(or $(CARGO_TARGET_DIR),target)

.PHONY: help setup run release test test-long bench results report docs

help:
	@echo "make run        build without HiGHS and z3, compare heuristics with proven optima: one screen and a page to open"
	@echo "                (PLIMSOLL_CORPORA=DIR: real instances too; TIME_LIMIT=S: seconds per run, default 1)"
	@echo "make release    build the command with every solver, optimised: $(TARGET)/release/plimsoll"
	@echo "make test       format, lints, documentation, tests"
	@echo "make test-long  the tests that take minutes"
	@echo "make bench      criterion benches: checker, heuristics, search"
	@echo "make results    regenerate the records in results/"
	@echo "make report     analyse results/: target/report/report.html (REPORT=DIR: there)"
	@echo "make docs       build the book: $(TARGET)/book/index.html"
	@echo "make setup      only install what a build needs"

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

test-long: setup
	cargo test --workspace --release --locked -- --include-ignored

bench: setup
	cargo bench --locked --package plimsoll-lab --bench algorithms

results: setup
	@bash scripts/results.sh

report: release
	$(TARGET)/release/plimsoll report results --out $(or $(REPORT),$(TARGET)/report) --title 'Plimsoll: results on record'

docs:
	@bash scripts/docs.sh
