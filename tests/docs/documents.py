"""The documents of the project as something to run: every command in them, in order, with the output they show.

How a document marks what is run (CONTRIBUTING.md tells authors the same):

* A fenced block ``console``: lines that begin with ``$ `` are commands, what follows each is its output, both streams
  together. A line ``...`` stands for any lines, a time in seconds (``0.53s``) for any other; in a row of at least eight
  numbers they may be others, because such a row is a measurement. A command without shown output prints nothing; unless
  output is shown, or ``echo $?`` comes next, a command ends with status 0.
* A paragraph that ends in ``Save as `NAME`:`` before a fenced block: the block is written to that file.
* A fenced block ``sh``: set-up that a test cannot repeat (installers, nox); nothing else may stand in one.

All commands of a document run in one folder that looks like a clone of the project, with a store and a home of their
own. Names made of ten or more hex digits (handles, plan ids) may come out otherwise than shown, as where another
version of pytest prints other words: each shown name stands for one real name from its first appearance on.
"""

import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
COMMAND_SECONDS = 60
_FENCE = re.compile(r"^(`{3,})([a-z]*)$")
_SAVE = re.compile(r"[Ss]ave as `([^`]+)`:$")
_NAME = re.compile(r"\b[0-9a-f]{10,64}\b")
_TIME = re.compile(r"\b[0-9]+\\?\.[0-9]+s\b")
_NUMBER = re.compile(r"(?<![^\s])[0-9][0-9,.]*(?=[\s,]|$)")
_MEASURED = 8
_INSTALL = re.compile(r"python -m pip install -q -e (\S+)")
_SHARED = ("corpora", "protocols", "epochs", "receipts", "docs", "README.md", "pyproject.toml")
"""What a clone holds that commands of documents only read; `examples` is copied."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Block:
    """One fenced block."""

    language: str
    lines: tuple[str, ...]
    first_line: int
    """Of its content, 1-based."""
    save_as: str = ""
    """The file that the paragraph before it names."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Step:
    """One command with the output that the document shows."""

    command: str
    shown: tuple[str, ...]
    line: int
    """Of the command, 1-based."""
    output_line: int
    """Where its output begins."""


def documents() -> list[Path]:
    """Every document for users: README, CONTRIBUTING, docs/, and the READMEs of the data folders and examples."""
    found = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
    for folder in ("corpora", "protocols", "epochs", "receipts", "changelog", "examples"):
        found.append(ROOT / folder / "README.md")
    return [path for path in found if path.is_file()]


def blocks(text: str) -> Iterator[Block]:
    """The fenced blocks of a document."""
    lines = text.split("\n")
    position = 0
    while position < len(lines):
        fence = _FENCE.match(lines[position])
        if not fence:
            position += 1
            continue
        end = next(n for n in range(position + 1, len(lines)) if lines[n] == fence[1])
        before = next((line for line in reversed(lines[:position]) if line.strip()), "")
        save = _SAVE.search(before)
        yield Block(
            language=fence[2],
            lines=tuple(lines[position + 1 : end]),
            first_line=position + 2,
            save_as=save[1] if save else "",
        )
        position = end + 1


def steps(block: Block) -> list[Step]:
    """The commands of a console block; a line before the first command is an error of the document."""
    found: list[Step] = []
    for offset, line in enumerate(block.lines):
        number = block.first_line + offset
        if line.startswith("$ "):
            found.append(Step(command=line[2:], shown=(), line=number, output_line=number + 1))
        elif not found:
            raise AssertionError(f"line {number}: output without a command: {line!r}")
        elif found[-1].command.endswith("\\") and not found[-1].shown:
            last = found[-1]
            found[-1] = Step(command=f"{last.command}\n{line}", shown=(), line=last.line, output_line=number + 1)
        else:
            last = found[-1]
            found[-1] = Step(
                command=last.command, shown=(*last.shown, line), line=last.line, output_line=last.output_line
            )
    return found


@dataclass(slots=True)
class Clone:
    """A folder that looks like a clone of the project, and the shell of somebody who works in it."""

    folder: Path
    names: dict[str, str] = field(default_factory=dict)
    """Shown name -> real name."""
    cwd: str = ""
    status: int = 0
    paths: list[str] = field(default_factory=list)

    @classmethod
    def make(cls, folder: Path) -> "Clone":
        clone = folder / "clone"
        clone.mkdir()
        for name in _SHARED:
            if (ROOT / name).exists():
                (clone / name).symlink_to(ROOT / name)
        shutil.copytree(ROOT / "examples", clone / "examples", ignore=shutil.ignore_patterns("__pycache__", ".*_cache"))
        (folder / "home").mkdir()
        return cls(folder=folder, cwd=str(clone))

    def run(self, command: str) -> list[str]:
        """The output of a command line, both streams together; status and folder are kept for the next one."""
        installed = _INSTALL.fullmatch(command)
        if installed:
            self._install(Path(self.cwd) / installed[1])
            return []
        command = _NAME.sub(lambda match: self.names.get(match[0], match[0]), command)
        note = self.folder / "cwd"
        script = f"cd {shlex.quote(self.cwd)}\n(exit {self.status})\n{command}\nstatus=$?\npwd > {note}\nexit $status\n"
        done = subprocess.run(
            ["bash", "-c", script],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env=self._environment(),
            timeout=COMMAND_SECONDS,
            check=False,
        )
        self.status = done.returncode
        self.cwd = note.read_text(encoding="utf-8").rstrip("\n")
        text = done.stdout.decode("utf-8", "replace").replace(str(self.folder / "clone"), "CLONE")
        return text.split("\n")[:-1] if text.endswith("\n") else text.split("\n") if text else []

    def write(self, name: str, lines: tuple[str, ...]) -> None:
        """A file that the document tells to save."""
        path = Path(self.cwd) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")

    def _environment(self) -> dict[str, str]:
        return {
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            "HOME": str(self.folder / "home"),
            "CTX_STORE": str(self.folder / "store"),
            "PYTHONPATH": os.pathsep.join(self.paths),
            "LC_ALL": "C.UTF-8",
        }

    def _install(self, package: Path) -> None:
        """What an editable installation leaves behind, without an installer: the folder on the path, its metadata."""
        project = tomllib.loads((package / "pyproject.toml").read_text(encoding="utf-8"))["project"]
        site = self.folder / "site"
        info = site / f"{project['name'].replace('-', '_')}-{project['version']}.dist-info"
        info.mkdir(parents=True)
        (info / "METADATA").write_text(
            f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n", encoding="utf-8"
        )
        groups = project.get("entry-points", {})
        text = "".join(
            f"[{group}]\n" + "".join(f"{name} = {target}\n" for name, target in points.items())
            for group, points in groups.items()
        )
        (info / "entry_points.txt").write_text(text, encoding="utf-8")
        self.paths += [str(site), str(package)]

    def differences(self, shown: tuple[str, ...], printed: list[str]) -> str:
        """Why the shown output is not what was printed; empty where it fits. Binds names that are shown first here."""
        fresh: set[str] = set()
        pattern = re.compile("".join(self._pattern(line, fresh) for line in shown))
        matched = pattern.fullmatch("".join(f"{line}\n" for line in printed))
        if matched is None:
            return "\n".join(["shown:", *shown, "", "printed:", *printed])
        for name in fresh:
            self.names[name] = matched[f"n_{name}"]
        return ""

    def _pattern(self, line: str, fresh: set[str]) -> str:
        if line == "...":
            return r"(?:.*\n)*?"
        if len(_NUMBER.findall(line)) >= _MEASURED:
            words = [r"[0-9][0-9,.]*" if _NUMBER.fullmatch(word) else re.escape(word) for word in line.split()]
            return r"\s*" + r"\s+".join(words) + r"\s*\n"
        out, end = "", 0
        for found in _NAME.finditer(line):
            out += _literal(line[end : found.start()]) + self._name(found[0], fresh)
            end = found.end()
        return out + _literal(line[end:]) + r"[ \t]*\n"

    def _name(self, shown: str, fresh: set[str]) -> str:
        if shown in self.names:
            return re.escape(self.names[shown])
        if shown in fresh:
            return f"(?P=n_{shown})"
        fresh.add(shown)
        return f"(?P<n_{shown}>[0-9a-f]{{{len(shown)}}})"


def _literal(text: str) -> str:
    return _TIME.sub(lambda _: r"[0-9]+\.[0-9]+s", re.escape(text))


def walk(path: Path, clone: Clone) -> Iterator[tuple[Step, list[str], str]]:
    """Follow a document as a newcomer would: each command with what it printed, and why that is wrong (or nothing)."""
    for block in blocks(path.read_text(encoding="utf-8")):
        if block.save_as:
            clone.write(block.save_as, block.lines)
        if block.language != "console":
            continue
        following = [*(step.command for step in steps(block)[1:]), ""]
        for step, then in zip(steps(block), following, strict=True):
            printed = clone.run(step.command)
            wrong = clone.differences(step.shown, printed)
            if not wrong and clone.status != 0 and step.shown in ((), ("...",)) and then != "echo $?":
                wrong = "\n".join([f"ended with status {clone.status}:", *printed])
            yield step, printed, wrong
