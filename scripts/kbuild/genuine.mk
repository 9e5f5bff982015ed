# SPDX-License-Identifier: GPL-2.0
#
# The build for kernels with Rust metadata: the kernel's own rule compiles each
# crate, against its `kernel` crate and `module!`. Our bindings crate has another
# name than the kernel's (see crates.mk), and nothing here uses kernel::bindings.
#
# The module's crates are separate objects, linked by Kbuild.

homa-objects := $(patsubst %,generated/%.o,$(filter-out kernel,$(homa-crates)))
homa-y += $(homa-objects)

# The `kernel` crate comes with the kernel's rule.
homa-own-needs = $(filter-out kernel,$(homa-needs-$(1)))

# Our options come after the kernel's; of options given twice, the later counts.
define homa-object-rule
RUSTFLAGS_generated/$(1).o := @$(homa-gen)/rustc.args @$(homa-gen)/features.args --crate-name $(1) $(homa-lints-$(1)) \
	--emit=metadata=$(homa-gen)/lib$(1).rmeta -L $(homa-gen) \
	$(foreach c,$(homa-own-needs),$(call homa-extern,$(c),$(homa-gen),rmeta))
$(homa-gen)/$(1).o: $(homa-src)/$(homa-root-$(1)) $(homa-gen)/rustc.args $(homa-gen)/features.args \
		$(patsubst %,$(homa-gen)/%.o,$(homa-own-needs)) FORCE
	+$$(call if_changed_rule,rustc_o_rs)
endef

$(foreach c,$(filter-out kernel,$(homa-crates)),$(eval $(call homa-object-rule,$(c))))

$(homa-gen)/homa_bindings.o: $(homa-gen)/bindings.rs $(homa-gen)/layout-checked
$(homa-gen)/homa_bindings.o: export HOMA_BINDINGS = $(abspath $(homa-gen))/bindings.rs
