# SPDX-License-Identifier: GPL-2.0
"""Writer of "newc" cpio archives, the format of an initramfs.

Archives can be concatenated; a later file replaces an earlier one of the same
name. They stay uncompressed: under emulation the kernel copies bytes far
faster than it decompresses them.
"""

import os
import stat
from pathlib import Path
from typing import IO

_ALIGN = 512


class Archive:
    """An archive under construction; parent folders are added by themselves."""

    def __init__(self, out: IO[bytes]) -> None:
        self._out = out
        self._size = 0
        self._inode = 0
        self._folders: set[str] = {""}

    def folder(self, name: str, mode: int = 0o755) -> None:
        """Add a folder and its parents, once."""
        name = name.strip("/")
        if name in self._folders:
            return
        self.folder(os.path.dirname(name))
        self._folders.add(name)
        self._entry(name, stat.S_IFDIR | mode, b"")

    def file(self, name: str, data: bytes, mode: int = 0o644) -> None:
        """Add a regular file."""
        self._in_folder(name, stat.S_IFREG | mode, data)

    def copy(self, name: str, source: Path, mode: int | None = None) -> None:
        """Add a regular file with the contents and permissions of `source`."""
        if mode is None:
            mode = 0o755 if os.access(source, os.X_OK) else 0o644
        self.file(name, source.read_bytes(), mode)

    def link(self, name: str, target: str) -> None:
        """Add a symbolic link."""
        self._in_folder(name, stat.S_IFLNK | 0o777, target.encode())

    def device(self, name: str, major: int, minor: int, mode: int = 0o600) -> None:
        """Add a character device."""
        self._in_folder(name, stat.S_IFCHR | mode, b"", (major, minor))

    def close(self) -> None:
        """Write the trailer, padded so that another archive may follow."""
        self._entry("TRAILER!!!", 0, b"")
        self._pad(_ALIGN)

    def _in_folder(
        self, name: str, mode: int, data: bytes, device: tuple[int, int] = (0, 0)
    ) -> None:
        name = name.strip("/")
        self.folder(os.path.dirname(name))
        self._entry(name, mode, data, device)

    def _entry(
        self, name: str, mode: int, data: bytes, device: tuple[int, int] = (0, 0)
    ) -> None:
        self._inode += 1
        raw_name = name.encode() + b"\0"
        links = 2 if stat.S_ISDIR(mode) else 1
        # Times are 0 so that equal input gives equal archives.
        fields = (self._inode, mode, 0, 0, links, 0, len(data), 0, 0, *device, len(raw_name), 0)
        self._write(b"070701" + b"".join(b"%08X" % field for field in fields) + raw_name)
        self._pad(4)
        self._write(data)
        self._pad(4)

    def _write(self, data: bytes) -> None:
        self._out.write(data)
        self._size += len(data)

    def _pad(self, unit: int) -> None:
        self._write(bytes(-self._size % unit))
