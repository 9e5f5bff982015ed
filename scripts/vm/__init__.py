# SPDX-License-Identifier: GPL-2.0
"""Virtual machines that run the kernel tests.

Vocabulary:

machine  one QEMU process with one kernel and one initramfs.
item     one guest script (or command) of a run; prints one TAP document.
session  all machines of a run, from the first boot to the verdict.
console  first serial port: the kernel's log.
channel  second serial port: TAP from the guest, directives (`# vm: ...`),
         and the runner's answers to them.

`paths` finds things in the cache, `cpio`, `modules` and `initramfs` build what
is booted, `accel` decides between KVM and emulation, `tsc` knows the speed of the clock,
`qemu` starts machines,
`network` joins them, `tap` and `kernlog` judge what they say, `session` drives
all of it, `report` shows it, `cli` is the command line.
"""
