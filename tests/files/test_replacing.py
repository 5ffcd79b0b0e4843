"""A file is complete or stays as it was."""

import errno
import os
import stat
import subprocess
import sys
import threading

import numpy as np
import pytest

from spdpeg import State
from spdpeg.files.replacing import replacing, sweep, unique
from spdpeg.state import Begun, LoopState


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
    # What the killed process left goes with the next file that is written there.
    assert len(os.listdir(tmp_path)) == 2
    with replacing(tmp_path / "other") as file:
        file.write(b"new")
    assert sorted(os.listdir(tmp_path)) == ["file", "other"]


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o444])
def test_permissions_of_a_file_that_is_there_are_kept(mode, tmp_path):
    (tmp_path / "file").write_bytes(b"old")
    (tmp_path / "file").chmod(mode)
    with replacing(tmp_path / "file") as file:
        parts = [path for path in tmp_path.iterdir() if path.suffix == ".part"]
        assert [stat.S_IMODE(path.stat().st_mode) for path in parts] == [mode]
        file.write(b"new")
    assert stat.S_IMODE((tmp_path / "file").stat().st_mode) == mode
    assert (tmp_path / "file").read_bytes() == b"new"


def test_files_under_way_elsewhere_are_left_alone(tmp_path):
    ours, theirs = unique(tmp_path / "a"), tmp_path / ".a.00000000-1-00000000.part"
    for path in (ours, theirs, tmp_path / "users.part", tmp_path / ".notes.part"):
        path.write_bytes(b"")
    assert sweep(tmp_path) == []
    assert len(os.listdir(tmp_path)) == 4


def test_threads_may_write_to_one_path(tmp_path):
    """Every save succeeds, and every load in between finds a whole state."""
    errors = []

    def work(number):
        try:
            for _ in range(20):
                vectors = {"x": np.full(1000, float(number))}
                State("spdpeg", {}, number, vectors=vectors, loop=LoopState([Begun("spdpeg", "")])).save(
                    tmp_path / "state"
                )
                loaded = State.load(tmp_path / "state")
                assert np.all(loaded.vectors["x"] == loaded.seed)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert os.listdir(tmp_path) == ["state"]


def test_states_are_brought_to_the_disk(tmp_path, monkeypatch):
    synced = []
    fsync = os.fsync
    monkeypatch.setattr(os, "fsync", lambda descriptor: (synced.append(descriptor), fsync(descriptor))[1])
    State("spdpeg", {}, 0).save(tmp_path / "state")
    assert len(synced) == 2, "the file and the name of it"
