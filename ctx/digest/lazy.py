"""Stand-ins for profiles whose modules are loaded when they are first asked (start-up is a budget)."""

from importlib import import_module

from ctx.digest.base import DigestContext, Profile


class LazyProfile(Profile):
    """Knows the version of a profile and where it lives; everything else is the profile's own."""

    def __init__(self, version: str, module: str, name: str) -> None:
        self.version = version  # type: ignore[misc]
        self._module = module
        self._name = name

    def loaded(self) -> Profile:
        """The profile; its version must be the one that stands in the registry."""
        profile = getattr(import_module(self._module), self._name)()
        assert isinstance(profile, Profile)
        assert profile.version == self.version, f"{self._name} is {profile.version}, registered as {self.version}"
        return profile

    def detect(self, ctx: DigestContext) -> str | None:
        return self.loaded().detect(ctx)
