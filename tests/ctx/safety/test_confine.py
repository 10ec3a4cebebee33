"""Confinement: a `repo:` path stays inside the workspace, hop by hop, and reads regular files alone (S18.1, S18.2)."""

import os
from pathlib import Path

import pytest

from ctx.errors import RefusedError, UnknownError
from ctx.safety.confine import DENIED, confined_path, denied_by


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """A work tree with a file, beside a folder that is none of its business."""
    root = tmp_path / "work"
    (root / "src" / "deep").mkdir(parents=True)
    (root / "src" / "app.py").write_text("x = 1\n")
    (root / "src" / "with blank.py").write_text("y = 1\n")
    (root / ".git").mkdir()
    (root / ".git" / "config").write_text("[core]\n")
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "hidden.txt").write_text("hidden\n")
    return root


@pytest.mark.parametrize("name", ["src/app.py", "src/with blank.py"])
def test_a_file_of_the_workspace_is_served(workspace: Path, name: str) -> None:
    assert confined_path(workspace, name) == workspace.resolve() / name


def test_a_link_inside_the_workspace_is_followed(workspace: Path) -> None:
    """To a file, to a folder, and over two links."""
    (workspace / "one.py").symlink_to("src/app.py")
    (workspace / "lib").symlink_to("src")
    (workspace / "two.py").symlink_to("one.py")
    target = workspace.resolve() / "src" / "app.py"
    for name in ("one.py", "lib/app.py", "two.py"):
        assert confined_path(workspace, name) == target


@pytest.mark.parametrize(
    ("link", "target", "asked"),
    [
        ("out.txt", "../outside/hidden.txt", "out.txt"),
        ("away", "../outside", "away/hidden.txt"),
        ("abs", "/etc", "abs/hostname"),
        ("src/deep/up", "../../..", "src/deep/up/outside/hidden.txt"),
        ("chain", "chain2", "chain/hidden.txt"),
        ("git", ".git", "git/config"),
        ("conf", ".git/config", "conf"),
    ],
)
def test_a_link_that_leads_out_or_to_a_denied_place_is_refused(
    workspace: Path, link: str, target: str, asked: str
) -> None:
    """S19.48: also where an inner folder of the path is the link, or the link leads to another link."""
    (workspace / "chain2").symlink_to("../outside")
    (workspace / link).symlink_to(target)
    with pytest.raises(RefusedError, match=r"refused"):
        confined_path(workspace, asked)


@pytest.mark.parametrize(
    "name",
    [
        "../outside/hidden.txt",
        "src/../../outside/hidden.txt",
        "/etc/hostname",
        "src//app.py",
        "./src/app.py",
        "",
        "src/app.py\x00",
    ],
)
def test_a_path_that_could_leave_is_refused_before_anything_is_opened(workspace: Path, name: str) -> None:
    """Even where it would come back inside."""
    with pytest.raises(RefusedError, match="a path stays inside the workspace"):
        confined_path(workspace, name)


def test_what_is_no_regular_file_is_refused(workspace: Path) -> None:
    """A FIFO would block, a device would never end, a folder has no lines; a link to one is one."""
    os.mkfifo(workspace / "pipe")
    (workspace / "null").symlink_to("pipe")
    for name in ("pipe", "null", "src"):
        with pytest.raises(RefusedError, match="not a regular file"):
            confined_path(workspace, name)
    (workspace / "dev").symlink_to("/dev/null")
    with pytest.raises(RefusedError, match="leads out of the workspace"):
        confined_path(workspace, "dev")


def test_what_is_not_there_is_unknown_and_a_loop_of_links_is_refused(workspace: Path) -> None:
    """Two different answers (S8.11)."""
    for name in ("no.py", "src/no/app.py", "src/app.py/more"):
        with pytest.raises(UnknownError, match="not there"):
            confined_path(workspace, name)
    (workspace / "loop").symlink_to("loop")
    with pytest.raises((RefusedError, UnknownError)):
        confined_path(workspace, "loop")


@pytest.mark.parametrize(
    ("name", "rule"),
    [
        (".git/config", ".git/**"),
        ("sub/.git/config", ".git/**"),
        (".git", ".git/**"),
        (".GIT/config", ".git/**"),
        (".env", ".env*"),
        (".env.production", ".env*"),
        ("app/.ENV", ".env*"),
        ("secrets/db.txt", "secrets/**"),
        ("app/credentials/x/y.json", "credentials/**"),
        ("tls/server.pem", "*.pem"),
        ("server.key", "*.key"),
        ("home/.ssh/known_hosts", ".ssh/**"),
        ("id_rsa.pub", "id_rsa*"),
        (".aws/config", ".aws/**"),
        (".azure/token.json", ".azure/**"),
        (".config/gcloud/x.json", ".config/gcloud/**"),
        (".docker/config.json", ".docker/**"),
        (".npmrc", ".npmrc"),
        (".pypirc", ".pypirc"),
        (".netrc", ".netrc"),
    ],
)
def test_the_deny_list_holds_at_any_depth_and_in_any_case(workspace: Path, name: str, rule: str) -> None:
    """S18.2: refused with its rule, whether the file is there or not."""
    assert denied_by(name) == rule
    with pytest.raises(RefusedError, match="refused by the deny rule") as caught:
        confined_path(workspace, name)
    assert rule in str(caught.value)


@pytest.mark.parametrize(
    "name",
    [
        "src/app.py",
        ".gitignore",
        "environment.py",
        "keys.py",
        "secrets.py",
        "docs/credentials.md",
        "pem.txt",
        "config/gcloud.md",
    ],
)
def test_names_that_only_resemble_a_rule_are_not_denied(name: str) -> None:
    assert denied_by(name) is None


def test_the_deny_list_is_a_constant() -> None:
    """No configuration takes a rule away: a tuple of texts, with every rule that the specification names."""
    assert isinstance(DENIED, tuple)
    assert {".git/**", ".env*", "secrets/**", "credentials/**", "*.pem", "*.key"} <= set(DENIED)


def test_nothing_of_the_store_is_served_even_where_it_lies_in_the_workspace(workspace: Path) -> None:
    """S18.1: no address names a path of the store."""
    store = workspace / "kept"
    (store / "blobs").mkdir(parents=True)
    (store / "blobs" / "x").write_text("raw bytes\n")
    (workspace / "link").symlink_to("kept/blobs")
    for name in ("kept/blobs/x", "link/x"):
        with pytest.raises(RefusedError, match="the store"):
            confined_path(workspace, name, store=store)
    assert confined_path(workspace, "src/app.py", store=store)
