"""The cluster as the controllers see it: caches, writes, events, and what it offers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, Literal

import structlog

from dynamo_operator.controllers import resources
from dynamo_operator.controllers.endings import StepError
from dynamo_operator.controllers.pull_secrets import PullSecret
from dynamo_operator.domain.manifest import Child, Upkeep
from dynamo_operator.domain.site import Offers, Site
from dynamo_operator.runtime.apply import Action, Applied, Applier, Foreign, Wanted
from dynamo_operator.runtime.capabilities import Capabilities
from dynamo_operator.runtime.client import Client
from dynamo_operator.runtime.clock import Clock
from dynamo_operator.runtime.errors import ApiError
from dynamo_operator.runtime.events import EventRecorder
from dynamo_operator.runtime.informer import Change, Informer
from dynamo_operator.runtime.resource import Key, Resource
from dynamo_operator.runtime.views import Body, Metadata, ObjectMeta, OwnerReference

FIELD_MANAGER: Final = "dynamo-operator"

# Children whose creation is not worth an event: they come with every graph and say nothing by themselves.
_PLUMBING: Final = frozenset(
    {resources.SERVICE_ACCOUNTS, resources.ROLES, resources.ROLE_BINDINGS, resources.SERVICES, resources.CONFIG_MAPS}
)

log = structlog.get_logger("controllers")


class ChildError(StepError):
    """A child could not be made: ``error`` is what the API server answered, or Foreign for a name that is taken.

    ``said`` takes the place of the error's own words.
    """

    def __init__(self, wanted: Wanted, error: ApiError, *, said: str = "") -> None:
        self.wanted = wanted
        # The request is for logs; in a condition the API server's own words are enough.
        super().__init__(said or error.message, error)


@dataclass(frozen=True, slots=True)
class Parent:
    """An object of ours that owns children and gets events."""

    resource: Resource
    meta: ObjectMeta

    @property
    def reference(self) -> OwnerReference:
        """Owner reference that its children carry."""
        return OwnerReference(
            api_version=self.resource.api_version,
            kind=self.resource.kind,
            name=self.meta.name,
            uid=self.meta.uid,
            controller=True,
            block_owner_deletion=True,
        )


@dataclass(slots=True)
class Cluster:
    """Everything a controller needs, built once by bootstrap.

    ``informers`` hold whole objects by resource; the other three caches hold only what their names say.
    """

    client: Client
    informers: dict[Resource, Informer[Body]]
    claims: Informer[Metadata]
    accounts: Informer[Metadata]
    pull_secrets: Informer[PullSecret]
    ssh_secrets: Informer[Metadata]
    applier: Applier
    capabilities: Capabilities
    clock: Clock
    settled_site: Site
    recorder_of: Callable[[Resource], EventRecorder]
    _taken: dict[tuple[Resource, Key], Parent] = field(default_factory=dict[tuple[Resource, Key], Parent])

    @property
    def site(self) -> Site:
        """Settings and what the cluster offers right now; the same object until that changes."""
        offers = Offers(**{name: self.capabilities.offers(name) for name in resources.CAPABILITIES})
        if offers != self.settled_site.offers:
            self.settled_site = replace(self.settled_site, offers=offers)
        return self.settled_site

    def now(self) -> str:
        """The time as Kubernetes writes it, whole seconds in UTC."""
        return self.clock.now().strftime("%Y-%m-%dT%H:%M:%SZ")

    def event(self, parent: Parent, kind: Literal["Normal", "Warning"], reason: str, message: str) -> None:
        """Record an event on ``parent``; never blocks."""
        self.recorder_of(parent.resource).record((parent.resource, parent.meta), kind, reason, message)

    async def apply_children(
        self, parent: Parent, children: Iterable[Child], *, renewed: bool = False
    ) -> list[Applied]:
        """Make the children as rendered; ChildError names the first that could not be made.

        ``renewed``: the parent's spec changed since it was last carried out.
        """
        wanted = [_wanted(child, renewed=renewed) for child in children]
        done: dict[tuple[Resource, Action], list[str]] = {}

        def note(child: Wanted, action: Action) -> None:
            done.setdefault((child.resource, action), []).append(child.key.name)

        try:
            outcomes = await self.applier.apply_each(parent.reference, wanted, on_action=note)
        finally:
            self._say_applied(parent, done)
        for child, outcome in zip(wanted, outcomes, strict=True):
            if isinstance(outcome, Foreign):
                self._taken[(outcome.resource, outcome.key)] = parent
            if isinstance(outcome, ApiError):
                # Not "from" it: the outcome will be raised from this, and causes must not form a ring.
                raise ChildError(child, outcome)
            if isinstance(outcome, BaseException):
                raise outcome
        return [outcome for outcome in outcomes if isinstance(outcome, Applied)]

    def waiting_for(self, gone: Change[Body], kind: Resource) -> Iterable[Key]:
        """The object of a kind that wanted a child of the name of what is gone; told once."""
        parent = self._taken.get((gone.resource, gone.key))
        if parent is None or parent.resource is not kind:
            return ()
        del self._taken[(gone.resource, gone.key)]
        return (parent.meta.key,)

    def forget(self, kind: Resource, key: Key) -> None:
        """The object is gone, and waits for no name any more."""
        waiting = [place for place, parent in self._taken.items() if (parent.resource, parent.meta.key) == (kind, key)]
        for place in waiting:
            del self._taken[place]

    async def prune_others(self, parent: Parent, kinds: Sequence[Resource], children: Iterable[Child]) -> None:
        """Delete what ``parent`` has of these kinds besides these children, whether they could be made or not."""
        wanted = [_wanted(child) for child in children]
        keep = {(each.resource, each.key) for each in wanted}
        for resource, key in await self.applier.prune(parent.meta.uid, kinds, keep=keep):
            self.event(parent, "Normal", f"Delete{resource.kind}", f"Deleted {resource.kind} {key.name}")

    def _say_applied(self, parent: Parent, done: Mapping[tuple[Resource, Action], Sequence[str]]) -> None:
        """One event for all children of a kind that were made or changed together."""
        for (resource, action), names in done.items():
            kind, told = resource.kind, ", ".join(sorted(names))
            if action == "created" and resource not in _PLUMBING:
                self.event(parent, "Normal", f"Create{kind}", f"Created {kind} {told}")
            elif action == "updated" and resource is not resources.COMPONENTS:
                # A component tells itself what it changes.
                self.event(parent, "Normal", f"Update{kind}", f"Updated {kind} {told}")

    async def write_status(self, parent: Parent, current: Any, wanted: Any) -> None:
        """Write the difference between two statuses, if there is one."""
        await self.applier.write_status(parent.resource, parent.meta.key, current, wanted=wanted)

    async def patch(self, parent: Parent, patch: dict[str, Any]) -> None:
        """JSON merge patch on one of our own objects; the caches see the answer at once."""
        key = parent.meta.key
        body = await self.client.merge_patch(parent.resource, key, patch, field_manager=FIELD_MANAGER)
        self.informers[parent.resource].observe(body)


def _wanted(child: Child, *, renewed: bool = False) -> Wanted:
    return Wanted(
        resource=resources.resource_of(child.manifest),
        manifest=child.manifest,
        create_only=child.upkeep is Upkeep.CREATE,
        initial=child.initial,
        owned=child.owned,
        shared=child.shared,
        recreate=child.recreate,
        renewed=renewed,
    )
