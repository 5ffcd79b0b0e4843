"""A file is complete or stays as it was."""

import errno
import os
import stat
import subprocess
import sys

import pytest

from spdpeg.files.replacing import replacing


def write_half(path, error):
    with replacing(path) as file:
        file.write(b"half")
        raise error


@pytest.mark.parametrize("error", [OSError(errno.ENOSPC, "No space left on device"), KeyboardInterrupt(), ValueError()])
@pytest.mark.parametrize("existing", [True, False])
def test_a_failure_leaves_things_as_they_were(error, existing, tmp_path):
    if existing:
        (tmp_path / "file").write_bytes(b"old")
    with pytest.raises(type(error)):
        write_half(tmp_path / "file", error)
    assert os.listdir(tmp_path) == ["file"] * existing
    assert not existing or (tmp_path / "file").read_bytes() == b"old"


def test_a_full_disk_is_told_with_the_name_of_the_file(tmp_path, monkeypatch):
    def fail(descriptor):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(OSError, match="No space left") as error, replacing(tmp_path / "file"):
        pass
    assert error.value.filename == str(tmp_path / "file")
    assert os.listdir(tmp_path) == []


def test_success_replaces_and_leaves_nothing_beside(tmp_path):
    (tmp_path / "file").write_bytes(b"a long old content")
    with replacing(tmp_path / "file") as file:
        file.write(b"new")
        assert (tmp_path / "file").read_bytes() == b"a long old content"
    assert (tmp_path / "file").read_bytes() == b"new"
    assert os.listdir(tmp_path) == ["file"]


def test_a_device_is_written_to_and_not_replaced():
    with pytest.raises(OSError, match="No space left"), replacing("/dev/full") as file:
        file.write(b"anything")
    assert stat.S_ISCHR(os.stat("/dev/full").st_mode)


def test_permissions_are_those_of_any_new_file(tmp_path):
    with replacing(tmp_path / "file"):
        pass
    (tmp_path / "plain").write_text("")
    assert (tmp_path / "file").stat().st_mode == (tmp_path / "plain").stat().st_mode


def test_a_link_stays_a_link(tmp_path):
    (tmp_path / "link").symlink_to(tmp_path / "file")
    with replacing(tmp_path / "link") as file:
        file.write(b"new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "file").read_bytes() == b"new"


def test_killed_while_writing_leaves_the_old_file(tmp_path):
    (tmp_path / "file").write_bytes(b"old")
    code = (
        "import os, signal, sys\n"
        "from spdpeg.files.replacing import replacing\n"
        "with replacing(sys.argv[1]) as file:\n"
        "    file.write(b'half')\n"
        "    file.flush()\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    assert subprocess.run([sys.executable, "-c", code, tmp_path / "file"]).returncode == -9
    assert (tmp_path / "file").read_bytes() == b"old"
