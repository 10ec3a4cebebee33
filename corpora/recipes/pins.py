"""The pinned public packages and tools that captures are made from, and how they get into the work folder."""

import shutil
import subprocess
import sys
import tarfile
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

RECORDER = Path(__file__).resolve().parent / "record_reports.py"


@dataclass(frozen=True, kw_only=True, slots=True)
class Package:
    """One source distribution on PyPI, tests included."""

    name: str
    version: str
    licence: str
    sha256: str
    tests: str
    """What its user gives to pytest."""
    path: str = "."
    """The folder that goes on `PYTHONPATH`."""

    @property
    def requirement(self) -> str:
        return f"{self.name}=={self.version}"


PACKAGES = {
    package.name: package
    for package in (
        Package(
            name="attrs",
            version="26.1.0",
            licence="MIT",
            sha256="d03ceb89cb322a8fd706d4fb91940737b6642aa36998fe130a9bc96c985eff32",
            tests="tests",
            path="src",
        ),
        Package(
            name="humanize",
            version="4.17.0",
            licence="MIT",
            sha256="1d6a36c453dbfbb3f0b34601d2e0b4ce5d48d780305cd45714843f0068fde6ac",
            tests="tests",
            path="src",
        ),
        Package(
            name="idna",
            version="3.20",
            licence="BSD-3-Clause",
            sha256="a7db850025b95ded1eae8a46181a1a6c56c92c96f0e2b005d9ff8dc0210cab44",
            tests="tests",
        ),
        Package(
            name="inflection",
            version="0.5.1",
            licence="MIT",
            sha256="1a29730d366e996aaacffb2f1f1cb9593dc38e2ddd30c91250c6dde09ea9b417",
            tests="test_inflection.py",
        ),
        Package(
            name="iniconfig",
            version="2.3.1",
            licence="MIT",
            sha256="67f4b9c50da0dedf52af349e7749a80a9057a5031199791b906c3bb3ae878960",
            tests="testing",
            path="src",
        ),
        Package(
            name="itsdangerous",
            version="2.2.0",
            licence="BSD-3-Clause",
            sha256="e0050c0b7da1eea53ffaf149c0cfbb5c6e2e2b69c4bef22c81fa6eb73e5f6173",
            tests="tests",
            path="src",
        ),
        Package(
            name="markupsafe",
            version="3.0.4",
            licence="BSD-3-Clause",
            sha256="2e9ad7dd851bf45fab9f75cbff4cb493fee9979e8d8c7c9c3ee119022518edd6",
            tests="tests",
            path="src",
        ),
        Package(
            name="more-itertools",
            version="11.2.1",
            licence="MIT",
            sha256="cbf08fd0af284dc69718b9b76a8e6203df624d70209ea511e4219d350c856f63",
            tests="tests",
        ),
        Package(
            name="natsort",
            version="8.4.0",
            licence="MIT",
            sha256="45312c4a0e5507593da193dedd04abb1469253b601ecaf63445ad80f0a1ea581",
            tests="tests",
        ),
        Package(
            name="packaging",
            version="26.4",
            licence="Apache-2.0 OR BSD-2-Clause",
            sha256="c4b671c41ddb9bf26e543c37723610d28fb6bf7affc4da17cf048d419d2c062a",
            tests="tests",
            path="src",
        ),
        Package(
            name="pluggy",
            version="1.7.0",
            licence="MIT",
            sha256="d1eaa46ebb595891b860ab086b4d09c8588af65ebd4361b8e8f4bb8920b90ba8",
            tests="testing",
            path="src",
        ),
        Package(
            name="tabulate",
            version="0.10.0",
            licence="MIT",
            sha256="e2cfde8f79420f6deeffdeda9aaec3b6bc5abce947655d17ac662b126e48a60d",
            tests="test",
        ),
        Package(
            name="toolz",
            version="1.2.0",
            licence="BSD-3-Clause",
            sha256="9667a038e9d6ecba37995e26cb2f59ec6420b6ad8dd9677de59db9b956b08490",
            tests="toolz",
        ),
        Package(
            name="wcwidth",
            version="0.9.4",
            licence="MIT",
            sha256="fd8d57d3cdfe570e3265c8fab1885c24e34ef40889c0759c0c304a19e9835954",
            tests="tests",
        ),
    )
}


@dataclass(frozen=True, kw_only=True, slots=True)
class NpmPackage:
    """One package on npm, as published."""

    name: str
    version: str
    licence: str
    sha256: str


NPM_PACKAGES = {
    package.name: package
    for package in (
        NpmPackage(
            name="semver",
            version="7.7.3",
            licence="ISC",
            sha256="b49572086d1e04c9a014cafc232685cc74570320d4e7091c2e30a7138c8522bd",
        ),
        NpmPackage(
            name="minimist",
            version="1.2.8",
            licence="MIT",
            sha256="350a76c115b393c19d24654834261e5dc9f0e8cc5e08f3937fa80140f3e4ce83",
        ),
        NpmPackage(
            name="commander",
            version="14.0.2",
            licence="MIT",
            sha256="09106ecd2c62a34c8bc466d5b46096e383e474af120a6295dcd0473e45b6c2f1",
        ),
        NpmPackage(
            name="bats",
            version="1.13.0",
            licence="MIT",
            sha256="b7ae290dbc7e44709d5e3430698f3048a978bef871c6063f5fca49a20e5aaf58",
        ),
    )
}

VENVS: dict[str, tuple[str, ...]] = {
    "py9": (
        "pytest==9.2.0",
        "pytest-xdist==3.8.0",
        "pytest-timeout==2.4.0",
        "pytest-rerunfailures==16.7",
        "hypothesis==6.170.17",
        "freezegun==1.5.5",
        "python-dateutil==4.0.0",
        "six==1.17.0",
    ),
    "py7": ("pytest==7.4.4", "pytest-xdist==3.5.0", "pytest-timeout==2.4.0"),
    "lint": ("ruff==0.17.6", "mypy==2.4.1", "pylint==4.1.4", "flake8==7.5.0"),
}
NODE = ("eslint@9.39.1", "typescript@5.9.3", "pyright@1.1.414", "eslint-formatter-unix@9.0.1")
DEBIAN = (
    "python3-venv",
    "gcc",
    "g++",
    "clang",
    "shellcheck",
    "openjdk-17-jdk-headless",
    "make",
    "openssl",
    "git",
    "curl",
)
"""Taken as the machine has them; `tool_version` of a case says which version that was."""


def install(root: Path, python: str = "/usr/bin/python3") -> None:
    """Virtual environments, node tools and unpacked packages under `root`; what is there already is kept.

    Args:
        root: The work folder.
        python: An interpreter outside any home folder, since tracebacks print its path.
    """
    tools = root / "tools"
    for name, requirements in VENVS.items():
        if not (tools / name / "bin" / "pip").exists():
            _call([python, "-m", "venv", str(tools / name)])
        _call([str(tools / name / "bin" / "pip"), "install", "--quiet", *requirements])
    if not (tools / "node" / "node_modules" / "eslint").exists():
        (tools / "node").mkdir(parents=True, exist_ok=True)
        _call(["npm", "install", "--silent", "--prefix", str(tools / "node"), *NODE])
    (tools / "recorder").mkdir(parents=True, exist_ok=True)
    shutil.copy(RECORDER, tools / "recorder" / RECORDER.name)
    for package in PACKAGES.values():
        fetch(root, package)


def fetch(root: Path, package: Package) -> Path:
    """The pristine tree of `package`, downloaded and unpacked once; a digest that differs is an error."""
    folder = root / "src" / package.name
    if folder.exists():
        return folder
    downloads = root / "dl"
    stem = package.name.replace("-", "_")
    archive = downloads / f"{stem}-{package.version}.tar.gz"
    if not archive.exists():
        pip = str(root / "tools" / "py9" / "bin" / "pip")
        options = ["download", "--quiet", "--no-deps", "--no-binary", package.name, "--dest", str(downloads)]
        _call([pip, *options, package.requirement])
    _check(archive, package.sha256)
    with tarfile.open(archive) as tar:
        tar.extractall(root / "src", filter="data")
    (root / "src" / f"{stem}-{package.version}").rename(folder)
    return folder


def checkout_npm(root: Path, package: NpmPackage) -> Path:
    """A fresh copy of an npm package under its own name."""
    downloads = root / "dl" / "npm"
    archive = downloads / f"{package.name}-{package.version}.tgz"
    if not archive.exists():
        downloads.mkdir(parents=True, exist_ok=True)
        what = f"{package.name}@{package.version}"
        _call(["npm", "pack", "--silent", "--pack-destination", str(downloads), what])
    _check(archive, package.sha256)
    folder = root / package.name
    shutil.rmtree(folder, ignore_errors=True)
    unpacked = root / "scratch" / f"npm-{package.name}"
    shutil.rmtree(unpacked, ignore_errors=True)
    with tarfile.open(archive) as tar:
        tar.extractall(unpacked, filter="data")
    (unpacked / "package").rename(folder)
    return folder


def _check(archive: Path, pinned: str) -> None:
    found = sha256(archive.read_bytes()).hexdigest()
    if found != pinned:
        sys.exit(f"{archive.name}: SHA-256 is {found}, pinned is {pinned}")


def checkout(root: Path, package: Package) -> Path:
    """A fresh copy of `package` under its own name, as its user would have it."""
    folder = root / package.name
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(fetch(root, package), folder)
    return folder


def _call(argv: list[str]) -> None:
    subprocess.run(argv, check=True, timeout=1800)
