"""Where capture, profile, policy and renderer meet: bytes and facts in, a digest out; nothing is stored here."""

from collections.abc import Mapping, Sequence

from ctx.digest import render_run_digest
from ctx.digest.base import CaptureFacts, DigestContext, Profile
from ctx.digest.rendered import Rendered
from ctx.policy.epoch import Epoch, active_epoch
from ctx.policy.session import NO_SESSION, SessionSummary
from ctx.text import StreamView


def digest_capture(
    streams: Mapping[str, bytes],
    facts: CaptureFacts,
    *,
    epoch: Epoch | None = None,
    focus: Sequence[str] = (),
    session: SessionSummary = NO_SESSION,
    stored: bool = True,
    profiles: Sequence[Profile] | None = None,
) -> Rendered:
    """The digest of one capture.

    Args:
        streams: Name -> exact bytes; `stdout` and `stderr` are added empty where they are missing.
        facts: What is known besides the bytes.
        epoch: The policy table; default: the packaged one.
        focus: Words that order details.
        stored: Whether the reader can redeem addresses of this capture.
        profiles: Replaces the built-in profiles.
    """
    views = {name: StreamView(name, streams.get(name, b"")) for name in ("stdout", "stderr")}
    views.update({name: StreamView(name, raw) for name, raw in sorted(streams.items()) if name not in views})
    return render_run_digest(
        DigestContext(streams=views, manifest=facts, focus=tuple(focus)),
        epoch=epoch or active_epoch(),
        session=session,
        stored=stored,
        profiles=tuple(profiles) if profiles is not None else None,
    )
