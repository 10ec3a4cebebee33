"""The digest library as an arm: a temporary store, an epoch, replaced profiles; its way back is its own `get`.

Spec: ``ctx[@EPOCH][+MODULE:NAME]…``. Each ``+MODULE:NAME`` names a `ctx.Profile` subclass (or a function that makes a
profile) that takes the place of the built-in profile of its family.
"""

import importlib
import shutil
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import ctx
from referee.arms.base import failed
from referee.delivery import Capture, Delivery, Fetched, WayBackError, decode
from referee.errors import EnvironmentProblem, UsageError
from referee.tokens import Encoder

ADDRESS_PATTERN = r"run:[0-9a-f]{6,64}#[a-z]+(?:\.\d+)?(?: --(?:lines|bytes) \d+:\d+| --span [0-9a-z]+)?"
"""Addresses that hold output. `run:<handle>` alone is left out: it names the digest that was just read."""


class _Store:
    """Way back through a store that one delivery was published in."""

    def __init__(self, store: "ctx.Store", target: str, folder: Path) -> None:
        self._store = store
        self._target = target
        self._folder = folder

    def get(self, address: str) -> Fetched:
        try:
            reply = self._store.get(address)
        except ctx.CtxError as error:
            raise WayBackError(_placeless(error, self._folder)) from error
        return Fetched(text=reply.text, body=reply.body)

    def whole(self, address: str) -> Fetched:
        """As a program's pipe gets it: the region's bytes, all of them."""
        try:
            reply = self._store.get(address)
        except ctx.CtxError as error:
            raise WayBackError(_placeless(error, self._folder)) from error
        return Fetched(text=decode(reply.body), body=reply.body)

    def search(self, word: str) -> Fetched:
        if not self._target:
            raise WayBackError(f"{word}: the output is not stored")
        try:
            reply = self._store.search(self._target, word)
        except ctx.CtxError as error:
            raise WayBackError(_placeless(error, self._folder)) from error
        if not reply.text.strip():
            raise WayBackError(f"{word}: no hit")
        return Fetched(text=reply.text)


class CtxArm:
    """`ctx` at an epoch, with profiles replaced or not."""

    def __init__(
        self,
        *,
        name: str = "ctx",
        spec: str = "ctx",
        epoch: str | None = None,
        replaced: "Sequence[ctx.Profile]" = (),
    ) -> None:
        self.name = name
        self.spec = spec
        self._epoch = ctx.active_epoch(epoch).epoch_id
        self._replaced = tuple(replaced)
        self._profiles = _with_replaced(self._replaced) if self._replaced else None
        self._folder = ""
        self._deliveries = 0

    def config(self) -> Mapping[str, str | int]:
        """See `Arm`."""
        config = {"epoch": self._epoch}
        if self._replaced:
            config["profiles"] = ", ".join(sorted(f"{type(p).__qualname__} {p.version}" for p in self._replaced))
        return config

    def deliver(self, capture: Capture, encoder: Encoder, budget_tokens: int | None = None) -> Delivery:
        """See `Arm`. Publishing to the store is part of the arm's time: without it there is no address."""
        folder = self._new_folder()
        started = time.perf_counter()
        try:
            store = ctx.Store(folder)
            rendered = ctx.digest_output(
                capture.stdout,
                capture.stderr,
                argv=capture.argv,
                exit_code=capture.exit_code,
                ended_by=capture.ended_by,
                store=store,
                epoch=self._epoch,
                profiles=self._profiles,
            )
        except Exception as error:  # A profile that raises is the arm's failure, not the run's.
            return failed(f"{type(error).__name__}: {_placeless(error, folder)}", time.perf_counter() - started)
        seconds = time.perf_counter() - started
        handles = [address.partition("#")[0] for address in rendered.addresses if address.startswith("run:")]
        return Delivery(
            text=rendered.text,
            tokens=encoder.count(rendered.text),
            seconds=seconds,
            address_pattern=ADDRESS_PATTERN,
            addresses=rendered.addresses,
            resolver=_Store(store, handles[0] if handles else f"run:{rendered.meta.handle}", folder),
            labels=(("profile", rendered.meta.profile), ("rung", str(rendered.meta.rung))),
        )

    def _new_folder(self) -> Path:
        if not self._folder:
            try:
                self._folder = tempfile.mkdtemp(prefix="referee-ctx-")
            except OSError as error:
                raise EnvironmentProblem(f"arm {self.name}: no temporary folder ({error.strerror})") from error
        self._deliveries += 1
        return Path(self._folder) / f"{self._deliveries:06d}"

    def close(self) -> None:
        """Remove the stores."""
        if self._folder:
            shutil.rmtree(self._folder, ignore_errors=True)
            self._folder = ""


def _placeless(error: Exception, folder: Path) -> str:
    """A message without the temporary folder of this run: its length must not reach what is compared."""
    return str(error).replace(str(folder), "<store>")


def _with_replaced(replaced: "Sequence[ctx.Profile]") -> "tuple[ctx.Profile, ...]":
    """The built-in profiles in their order, those of the replaced families exchanged."""
    by_family = {profile.version.partition("/")[0]: profile for profile in replaced}
    built_in: tuple[ctx.Profile, ...] = (ctx.PytestProfile(), ctx.LintProfile(), ctx.TextProfile())
    chosen = tuple(by_family.pop(p.version.partition("/")[0], p) for p in built_in)
    return (*by_family.values(), *chosen)


def parse_ctx_spec(spec: str) -> CtxArm:
    """The arm that a spec stands for.

    Raises:
        UsageError: an unknown epoch, a profile that cannot be imported or is none; names the part.
    """
    head, *replacements = spec.split("+")
    _, _, epoch = head.partition("@")
    try:
        return CtxArm(
            name=spec, spec=spec, epoch=epoch or None, replaced=[_imported_profile(spec, part) for part in replacements]
        )
    except ctx.CtxError as error:
        raise UsageError(f"arm {spec!r}: {error}") from error


def _imported_profile(spec: str, part: str) -> "ctx.Profile":
    module, _, attribute = part.partition(":")
    try:
        profile = getattr(importlib.import_module(module), attribute)()
    except (ImportError, AttributeError, TypeError, ValueError) as error:
        raise UsageError(f"arm {spec!r}: {part!r} gives no profile ({error}); write +MODULE:CLASS") from error
    if not isinstance(profile, ctx.Profile):
        raise UsageError(f"arm {spec!r}: {part!r} is a {type(profile).__name__}, not a ctx.Profile")
    return profile
