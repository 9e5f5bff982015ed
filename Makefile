# SPDX-License-Identifier: GPL-2.0
#
# For people; Kbuild reads the file Kbuild instead. `make help` lists the targets.

K ?= 5.10 6.1 6.12 7.2 7.3
# The first kernel in K if K was given: targets that use one kernel have their own default.
homa-chosen := $(if $(filter file,$(origin K)),,$(firstword $(K)))

.DEFAULT_GOAL := module
.PHONY: help demo test test-engine test-sim test-kernel test-genuine lint shell provision

help: ## print this list
	@echo 'usage: make TARGET [VARIABLE=VALUE]...'
	@awk -F ':.* ## ' '/^[a-z-]+:.* ## / { printf "  %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)
	@echo
	@echo 'What is fetched or built outside the tree is in $$HOMA_CACHE (~/.cache/homa),'
	@echo 'and may be deleted. docs/development.md tells more.'

demo: ## two virtual machines that talk Homa; K=6.12 chooses the kernel
	@$(if $(homa-chosen),K=$(homa-chosen)) scripts/demo

test: ## lint, engine, simulator and kernel tests: everything that CI runs
	@scripts/test

test-engine: ## unit and property tests of the engine and the user-space crates
	@scripts/test engine

test-sim: ## the simulator: many hosts in one process
	@scripts/test simulator

test-kernel: ## the module in virtual machines; K='6.1 7.3' chooses kernels
	@scripts/test $(addprefix kernel-,$(K))

test-genuine: ## the same, built with the genuine Rust-for-Linux crates; K=7.2 or 7.3
	@scripts/test $(addprefix genuine-,$(filter 7.2 7.3,$(K)))

lint: ## formats, Clippy, documentation, shell and Python checks; warnings are errors
	@scripts/test lint

shell: ## an interactive shell in a virtual machine with homa.ko; K=6.12 chooses the kernel
	@scripts/shell $(homa-chosen)

provision: ## fetch the build root, the kernels and their sources into the cache
	@scripts/provision all

include scripts/module.mk
