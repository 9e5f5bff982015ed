# SPDX-License-Identifier: GPL-2.0
"""The kernel inside a bzImage.

QEMU starts an uncompressed kernel through its PVH entry. Unpacking it here
once saves the guest from doing it at every boot, which under emulation is a
quarter of the boot's time.
"""

import gzip
import lzma
import shutil
import struct
import subprocess
from pathlib import Path

from . import paths

# Offsets in the boot protocol's setup header (Documentation/arch/x86/boot.rst).
_SETUP_SECTORS = 0x1F1
_MAGIC = 0x202
_PAYLOAD = 0x248
_SECTOR = 512


def bootable(kernel: paths.Kernel) -> Path:
    """What to give to QEMU: the unpacked kernel, else the image as it is."""
    kept = paths.vm_cache() / f"vmlinux-{kernel.release}"
    if kept.is_file() and kept.stat().st_mtime >= kernel.vmlinuz.stat().st_mtime:
        return kept
    unpacked = _unpack(kernel.vmlinuz.read_bytes())
    if unpacked is None or not unpacked.startswith(b"\x7fELF"):
        return kernel.vmlinuz
    partial = kept.with_suffix(f".{id(kept)}.partial")
    partial.write_bytes(unpacked)
    partial.replace(kept)
    return kept


def _unpack(image: bytes) -> bytes | None:
    """The payload, if it is packed in a way that can be undone here."""
    if image[_MAGIC : _MAGIC + 4] != b"HdrS":
        return None
    offset, length = struct.unpack_from("<II", image, _PAYLOAD)
    start = (image[_SETUP_SECTORS] + 1) * _SECTOR + offset
    payload = image[start : start + length]
    # The payload ends with the unpacked size, which no format expects there.
    if payload.startswith(b"\x28\xb5\x2f\xfd") and shutil.which("zstd"):
        return subprocess.run(
            ["zstd", "-dcq"], input=payload[:-4], check=True, stdout=subprocess.PIPE
        ).stdout
    if payload.startswith(b"\xfd7zXZ\0"):
        return lzma.LZMADecompressor().decompress(payload)
    if payload.startswith(b"\x1f\x8b"):
        return gzip.decompress(payload[:-4])
    return None
