# SPDX-License-Identifier: GPL-2.0
"""The archive writer, checked with the system's own reader."""

import io
import shutil
import subprocess
import unittest
from pathlib import Path
from tempfile import TemporaryDirectory

from vm.cpio import Archive


def archive() -> bytes:
    """An archive with one entry of each kind that root is not needed for."""
    out = io.BytesIO()
    made = Archive(out)
    made.file("a/b/text", b"hello", 0o640)
    made.link("a/link", "b/text")
    made.folder("a/b")
    made.folder("empty")
    made.close()
    return out.getvalue()


class Writing(unittest.TestCase):
    """Archives."""

    def test_equal_input_gives_equal_output(self) -> None:
        self.assertEqual(archive(), archive())

    def test_can_be_followed_by_another(self) -> None:
        self.assertEqual(len(archive()) % 512, 0)

    @unittest.skipUnless(shutil.which("cpio"), "cpio is not installed")
    def test_reader_agrees(self) -> None:
        with TemporaryDirectory() as folder:
            command = ["cpio", "--extract", "--quiet", "--make-directories"]
            subprocess.run(command, input=archive(), cwd=folder, check=True)
            root = Path(folder)
            self.assertEqual((root / "a/link").read_bytes(), b"hello")
            self.assertEqual((root / "a/b/text").stat().st_mode & 0o777, 0o640)
            self.assertTrue((root / "empty").is_dir())


if __name__ == "__main__":
    unittest.main()
