"""Any command as an arm: how it is fed, how its way back works, how it may break (S14.5)."""

import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from referee.arms import find_arm
from referee.arms.base import Arm
from referee.delivery import WayBackError
from referee.errors import UsageError
from tests.referee.builders import ENCODING, capture

Made = Callable[..., Arm]


@pytest.fixture
def arm(tmp_path: Path) -> Made:
    """An arm file with these lines, and the arm it describes; a program stands beside it as `tool.py`."""

    def make(body: str, program: str = "") -> Arm:
        (tmp_path / "tool.py").write_text(program)
        file = tmp_path / "arm.toml"
        file.write_text('schema = "referee.arm/v1"\nname = "tool"\n' + body)
        return find_arm(str(file))

    return make


def argv(*words: str) -> str:
    """`argv` of an arm file that runs the program beside it."""
    listed = ", ".join(f'"{word}"' for word in (sys.executable, "{here}/tool.py", *words))
    return f"argv = [{listed}]\n"


ECHO = "import sys; sys.stdout.write('<' + sys.stdin.read() + '>')"


def test_stdin_is_fed_both_streams_as_one_channel(arm: Made) -> None:
    """Stdout, then stderr."""
    given = arm(argv(), ECHO).deliver(capture("out", "err"), ENCODING)
    assert given.text == "<out\nerr>"
    assert given.tokens == ENCODING.count(given.text)
    assert given.resolver is None


def test_a_file_is_named_in_its_place(arm: Made) -> None:
    """`{file}`, and a file a stream."""
    program = "import sys; print([open(name).read() for name in sys.argv[1:4]], sys.argv[4])"
    made = arm('feed = "file"\n' + argv("{file}", "{stdout}", "{stderr}", "{budget}"), program)
    assert made.deliver(capture("o\n", "e\n"), ENCODING, 77).text == "['o\\ne\\n', 'o\\n', 'e\\n'] 77\n"
    made.close()


def test_a_wrapper_runs_the_captured_command(arm: Made) -> None:
    """A stub of it stands first on PATH: both recorded streams, the recorded status."""
    program = (
        "import subprocess, sys\n"
        "done = subprocess.run(sys.argv[1:], capture_output=True, text=True)\n"
        "print(sys.argv[1:], done.stdout, done.stderr, done.returncode)\n"
    )
    made = arm('feed = "wrap"\n' + argv("{command}"), program)
    assert made.deliver(capture("o", "e"), ENCODING).text == "['pytest', '-q'] o e 1\n"
    made.close()


def test_its_way_back_fetches_and_searches(arm: Made) -> None:
    """By the pattern's first group; a command that fails brought nothing."""
    program = (
        "import sys\n"
        "if len(sys.argv) == 1: print('short; more: tool get k12')\n"
        "elif sys.argv[1:] == ['get', 'k12']: print('all of it')\n"
        "elif sys.argv[1] == 'grep': print('hit', sys.argv[2])\n"
        "else: sys.exit('no such id')\n"
    )
    listed = f'"{sys.executable}", "{{here}}/tool.py"'
    made = arm(
        argv()
        + "address_pattern = 'tool get (?P<id>[a-z0-9]+)'\n"
        + f'resolver_argv = [{listed}, "get", "{{address}}"]\nsearch_argv = [{listed}, "grep", "{{word}}"]\n',
        program,
    )
    given = made.deliver(capture("x"), ENCODING)
    assert given.resolver is not None
    assert given.resolver.get("tool get k12").text == "all of it\n"
    assert given.resolver.whole("tool get k12").body == b"all of it\n"
    assert given.resolver.search("disk").text == "hit disk\n"
    with pytest.raises(WayBackError, match="exit 1: no such id"):
        given.resolver.get("tool get nope")
    made.close()


def test_it_runs_in_an_empty_folder_with_nothing_of_the_callers_environment(
    arm: Made, monkeypatch: pytest.MonkeyPatch
) -> None:
    """S18.5: a clean environment, no shell."""
    monkeypatch.setenv("SECRET_OF_MINE", "x")
    program = "import os; print(os.listdir('.'), 'SECRET_OF_MINE' in os.environ, sorted(os.environ))"
    made = arm(argv("; echo no"), program)
    text = made.deliver(capture("x"), ENCODING).text
    assert text.startswith("[] False ")
    made.close()


@pytest.mark.parametrize(
    ("body", "program", "error"),
    [
        (argv(), "", "printed nothing"),
        (argv(), "raise SystemExit(3)", "printed nothing"),
        ('exit = "zero"\n' + argv(), "print('x'); raise SystemExit(3)", "exit 3"),
        ('exit = "child"\n' + argv(), "print('x'); raise SystemExit(0)", "exit 0"),
        ('argv = ["no-such-program-anywhere"]\n', "", "no-such-program-anywhere: cannot be run"),
        (
            "timeout_seconds = 1\n" + argv(),
            "import time; print('x', flush=True); time.sleep(60)",
            "no answer within 1 s",
        ),
    ],
)
def test_what_breaks_is_an_empty_delivery_with_a_reason(arm: Made, body: str, program: str, error: str) -> None:
    """Scored, not dropped; a program is named without its folder, which is another one on every machine."""
    made = arm(body, program)
    given = made.deliver(capture("x"), ENCODING)
    assert (given.text, given.tokens) == ("", 0)
    assert error in given.arm_error
    assert "/" not in given.arm_error.partition(":")[0]
    made.close()


def test_a_status_that_is_expected_is_no_error(arm: Made) -> None:
    """`child`: the recorded status of the command, here 1."""
    made = arm('exit = "child"\n' + argv(), "print('x'); raise SystemExit(1)")
    assert made.deliver(capture("x"), ENCODING).arm_error == ""


def test_a_grandchild_that_holds_the_pipe_ends_with_the_timeout(arm: Made) -> None:
    """S19.45: within seconds."""
    program = "import subprocess, sys; subprocess.Popen(['sleep', '60']); print('x')"
    made = arm("timeout_seconds = 1\n" + argv(), program)
    started = time.monotonic()
    assert "no answer within 1 s" in made.deliver(capture("x"), ENCODING).arm_error
    assert time.monotonic() - started < 10


def test_its_version_is_in_its_configuration(arm: Made) -> None:
    """The first line of it."""
    version = argv("--version").replace("argv", "version_argv")
    made = arm(argv() + version, "print('tool 1.2'); print('more')")
    assert made.config()["version"] == "tool 1.2"
    made.close()


def test_closing_removes_its_folders(arm: Made) -> None:
    """Ways back live until then."""
    made = arm(argv(), "import os; print(os.getcwd())")
    folder = Path(made.deliver(capture("x"), ENCODING).text.strip())
    assert folder.is_dir()
    made.close()
    assert not folder.exists()


def test_all_mistakes_of_an_arm_file_are_reported(tmp_path: Path) -> None:
    """Each with its key."""
    file = tmp_path / "bad.toml"
    bad = ('schema = "v9"', 'argv = "x"', 'feed = "tube"', 'exit = "one"', "timeout_seconds = 0", "extra = 1")
    file.write_text("\n".join((*bad, 'address_pattern = "("')))
    with pytest.raises(UsageError) as caught:
        find_arm(str(file))
    keys = [line.removeprefix(f"arm file {file}: ").partition(":")[0] for line in str(caught.value).splitlines()]
    assert sorted(keys) == sorted(
        ["extra", "argv", "schema", "name", "feed", "exit", "timeout_seconds", "address_pattern", "address_pattern"]
    )
