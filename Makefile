# Everything is cargo's; these targets put it in order. `make help` lists them.

PREFIX ?= /usr/local
DESTDIR ?=
CARGO ?= cargo

.PHONY: help setup release mnist test check-long lint fmt bench install clean

help: ## List the targets
	@sed -n 's/^\([a-z][a-zA-Z-]*\):[^#]*## \(.*\)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 18
	@printf '  make bench-NAME One case of the benchmark\n'

setup: ## Install and unpack the native parts and MNIST into .deps/ (under a second when they are there)
	@scripts/setup.sh

release: setup ## Build the command, optimised
	$(CARGO) build --locked --release

mnist: release ## Train the MNIST program, from nothing but this checkout
	target/release/tpuc run examples/mnist.tl

test: setup lint ## Formatting, lints and every test
	scripts/test_setup.sh
	python3 -B -m unittest discover -q -s bench
	scripts/test.sh

check-long: setup ## The checks on generated programs at length: 10,000 whole programs
	TPUC_GENERATED=10000 $(CARGO) test --locked --release --workspace --all-features --test generated -- --nocapture
	TPUC_RANDOM_PROGRAMS=300 $(CARGO) test --locked --release --workspace --all-features --lib random_programs

lint: setup ## Formatting and lints only, those of the build without MLIR included
	$(CARGO) fmt --all --check
	$(CARGO) clippy --locked --workspace --all-targets --all-features -- -D warnings
	$(CARGO) clippy --locked -p tpuc-compiler --all-targets --no-default-features -- -D warnings

fmt: ## Format the code
	$(CARGO) fmt --all

bench: release ## Measure beside JAX; writes bench/RESULTS.md
	bench/run.sh

bench-%: release
	bench/run.sh $*

install: release ## Put a relocatable command under PREFIX (/usr/local)
	scripts/install.sh "$(DESTDIR)$(PREFIX)"

clean: ## Remove what was built; .deps/ and the benchmark's own environment stay
	$(CARGO) clean
	rm -rf bench/out
