# SPDX-License-Identifier: GPL-2.0
#
# make -f lint.mk SOURCE=FOLDER GENERATED=FOLDER: runs Clippy over the kernel
# crates, with the options and the libraries of a finished build; warnings are
# errors. The lints are those of the workspace in Cargo.toml.

include $(SOURCE)/scripts/kbuild/crates.mk

CLIPPY_DRIVER ?= clippy-driver

homa-linted := $(filter-out homa_bindings,$(homa-crates))

# Groups stand before single lints there, as the later option counts.
homa-workspace-lints := $(shell awk '\
	/^\[/ { tool = $$0; sub(/.*lints\./, "", tool); sub(/\]/, "", tool); on = /^\[workspace\.lints\./ } \
	on && match($$0, /"(allow|warn|deny|forbid)"/) { \
		level = substr($$0, RSTART + 1, RLENGTH - 2); \
		name = $$1; if (tool != "rust") name = tool "::" name; \
		if (tool != "rustdoc") printf "--%s=%s ", level, name }' $(SOURCE)/Cargo.toml)

.PHONY: all
all: $(homa-linted:%=$(GENERATED)/lint/%.rmeta)

define homa-lint-rule
$(GENERATED)/lint/$(1).rmeta: $(SOURCE)/$(homa-root-$(1))
	@echo '  CLIPPY  $(1)'
	@mkdir -p $$(@D)
	@RUSTC_BOOTSTRAP=1 HOMA_BINDINGS=$(GENERATED)/bindings.rs $(CLIPPY_DRIVER) \
		@$(GENERATED)/target.args @$(GENERATED)/rustc.args @$(GENERATED)/features.args \
		--sysroot=/dev/null -L $(GENERATED) \
		$(foreach c,$(homa-needs-$(1)),$(call homa-extern,$(c),$(GENERATED),rlib)) \
		$(homa-workspace-lints) --deny=warnings \
		--crate-name $(1) --crate-type rlib --emit=metadata=$$@ $$<
.PHONY: $(GENERATED)/lint/$(1).rmeta
endef

$(foreach c,$(homa-linted),$(eval $(call homa-lint-rule,$(c))))
