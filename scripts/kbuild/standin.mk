# SPDX-License-Identifier: GPL-2.0
#
# The build for kernels without Rust metadata: `core` from the compiler's sources,
# the crates of this tree, and one object of all of them, optimised as a whole, so
# that of `core` only what is used ends up in the module.

homa-y += rust.o

# Libraries hold bitcode only: machine code is made once, of the whole.
homa-rustc-crate = HOMA_BINDINGS=$(abspath $(homa-gen))/bindings.rs RUSTC_BOOTSTRAP=1 \
	$(homa-rustc) @$(homa-gen)/target.args @$(homa-gen)/rustc.args @$(homa-gen)/features.args \
	--sysroot=/dev/null -L $(homa-gen) \
	$(foreach c,$(homa-needs-$(homa-crate)),$(call homa-extern,$(c),$(homa-gen),rlib)) \
	--crate-name $(homa-crate) $(homa-lints-$(homa-crate))

quiet_cmd_homa_core = CORE    $@
      cmd_homa_core = RUSTC="$(homa-rustc)" $(homa-kbuild)/core $(homa-gen)

$(homa-gen)/target.json $(homa-gen)/target.args $(homa-gen)/core.args: $(homa-gen)/rustc.args ;

$(homa-gen)/libcore.rlib: $(homa-gen)/target.json $(homa-gen)/target.args $(homa-gen)/core.args \
		$(homa-kbuild)/core FORCE
	$(call if_changed,homa_core)

quiet_cmd_homa_rlib = RUSTC   $@
      cmd_homa_rlib = $(homa-rustc-crate) --crate-type rlib -Clinker-plugin-lto \
	--emit=link=$@,dep-info=$(depfile) $<; $(homa-one-rule) $(depfile)

define homa-rlib-rule
$(homa-gen)/lib$(1).rlib: private homa-crate := $(1)
$(homa-gen)/lib$(1).rlib: $(homa-src)/$(homa-root-$(1)) $(homa-gen)/libcore.rlib \
		$(homa-gen)/rustc.args $(homa-gen)/features.args \
		$(homa-needs-$(1):%=$(homa-gen)/lib%.rlib) FORCE
	+$$(call if_changed_dep,homa_rlib)
endef

$(foreach c,$(filter-out homa,$(homa-crates)),$(eval $(call homa-rlib-rule,$(c))))

$(homa-gen)/libhoma_bindings.rlib: $(homa-gen)/bindings.rs $(homa-gen)/layout-checked

# objtool's command begins with a semicolon on newer kernels only.
homa-objtool = $(filter-out ;,$(cmd_objtool))

# Of the archive only our own object is wanted: beside it lies the empty
# compiler_builtins. (With --emit=obj newer compilers leave out the libraries.)
quiet_cmd_homa_rust = RUSTC [M] $@
      cmd_homa_rust = $(homa-rustc-crate) --crate-type staticlib -Clto=fat \
	--emit=link=$(homa-gen)/libhoma.a,dep-info=$(depfile) $<; $(homa-one-rule) $(depfile); \
	$(AR) p $(homa-gen)/libhoma.a $$($(AR) t $(homa-gen)/libhoma.a | grep '^homa\.') > $@$(if $(homa-objtool),; $(homa-objtool))

define rule_homa_rust
	$(call cmd_and_fixdep,homa_rust)
	$(call cmd,gen_objtooldep)
endef

$(obj)/rust.o: private homa-crate := homa
$(obj)/rust.o: $(homa-src)/$(homa-root-homa) $(homa-gen)/rustc.args $(homa-gen)/features.args \
		$(homa-needs-homa:%=$(homa-gen)/lib%.rlib) FORCE
	+$(call if_changed_rule,homa_rust)

targets += generated/libcore.rlib $(patsubst %,generated/lib%.rlib,$(filter-out homa,$(homa-crates)))
