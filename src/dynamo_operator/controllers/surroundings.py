"""What of its namespace shapes a pod: read, and watched."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from dynamo_operator.controllers.cluster import Cluster
from dynamo_operator.controllers.pull_secrets import PullSecret, names_by_host
from dynamo_operator.domain.component import Surroundings
from dynamo_operator.domain.manifest import Tree
from dynamo_operator.runtime.controller import Controller
from dynamo_operator.runtime.informer import Change
from dynamo_operator.runtime.resource import Key
from dynamo_operator.runtime.views import Metadata


def load_surroundings(cluster: Cluster, namespace: str, running: Callable[[], Tree]) -> Surroundings:
    """Pull secrets and marked service accounts of a namespace.

    Where several fit, those that the running pod uses come first and in its order: a choice that upstream left to
    chance must not roll pods when another operator takes over. ``running`` is asked for that pod's spec only then.
    """
    secrets = names_by_host(cluster.pull_secrets.by("namespace", namespace))
    accounts = sorted(account.metadata.name for account in cluster.accounts.by("namespace", namespace))
    if len(accounts) > 1 or any(len(names) > 1 for names in secrets.values()):
        pod = running()
        used = [str(secret.get("name")) for secret in pod.get("imagePullSecrets") or ()]
        secrets = {host: _running_first(names, used) for host, names in secrets.items()}
        accounts = list(_running_first(accounts, [str(pod.get("serviceAccountName"))]))
    return Surroundings(pull_secrets=secrets, service_accounts=tuple(accounts))


def watch_surroundings(controller: Controller, cluster: Cluster, shaped: Callable[[str], Iterable[Key]]) -> None:
    """Wake what ``shaped`` says is shaped by a namespace when that would shape pods otherwise."""

    def secret_moved(change: Change[PullSecret]) -> Iterable[Key]:
        before = change.old.hosts if change.old is not None else ()
        after = change.new.hosts if change.new is not None else ()
        return shaped(change.key.namespace) if before != after else ()

    def account_came_or_went(change: Change[Metadata]) -> Iterable[Key]:
        moved = change.old is None or change.new is None
        return shaped(change.key.namespace) if moved else ()

    controller.watch(cluster.pull_secrets, secret_moved)
    controller.watch(cluster.accounts, account_came_or_went)


def _running_first(names: Iterable[str], used: list[str]) -> tuple[str, ...]:
    return tuple(sorted(names, key=lambda name: (used.index(name) if name in used else len(used), name)))
