# SPDX-License-Identifier: GPL-2.0
#
# Targets for the module, included by the top Makefile. The module itself is
# built by the kernel's own make files, from the file Kbuild.

# The build folder of the kernel: its headers package, or a tree it was built in.
KDIR ?= /lib/modules/$(shell uname -r)/build
# What packagers put before each path.
DESTDIR ?=

homa-kernel-make = $(MAKE) --no-print-directory -C $(KDIR) M=$(CURDIR)
# Where Linux looks first, before what came with the kernel.
homa-install-folder := updates
homa-modules = $(DESTDIR)/lib/modules/$(homa-release)
homa-release = $(shell sed -n 's/^.define UTS_RELEASE "\(.*\)"/\1/p' '$(KDIR)/include/generated/utsrelease.h')
# Headers packages name a signing key that they don't have.
homa-unsigned = $(if $(wildcard $(KDIR)/certs/signing_key.pem),,CONFIG_MODULE_SIG_ALL=)
homa-load := $(DESTDIR)/etc/modules-load.d/homa.conf

.PHONY: module clean install uninstall check-module have-kernel

have-kernel:
	@test -e '$(KDIR)/Makefile' || { \
		echo 'homa: there is no kernel to build for in $(KDIR): install the headers of your kernel (Debian and Ubuntu: linux-headers-'"$$(uname -r)"'), or pass its build folder as KDIR=.' >&2; \
		exit 1; }

module: have-kernel ## build homa.ko for the kernel in KDIR (default: the running one)
	+@$(homa-kernel-make) modules

check-module: module ## check the machine code of homa.ko
	@scripts/kbuild/check-object homa.ko $(KDIR)/Module.symvers

clean: have-kernel ## remove what `make` built in this folder
	+@$(homa-kernel-make) clean

install: module ## install homa.ko and have it loaded at boot; DESTDIR=... for packages
	+@$(homa-kernel-make) INSTALL_MOD_PATH='$(DESTDIR)' \
		INSTALL_MOD_DIR=$(homa-install-folder) $(homa-unsigned) modules_install
	@depmod $(if $(DESTDIR),-b '$(DESTDIR)') '$(homa-release)'
	@install -D -m 644 /dev/null '$(homa-load)'
	@echo homa >'$(homa-load)'

uninstall: have-kernel ## remove what `make install` installed
	@rm -f '$(homa-modules)/$(homa-install-folder)'/homa.ko* '$(homa-load)'
	@depmod $(if $(DESTDIR),-b '$(DESTDIR)') '$(homa-release)'
