"""What a PodCliqueSet asks for: the PodCliques, scaling groups and Services that it becomes, and their hashes."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from cluster.grove import facts
from cluster.grove.facts import Gang, Seen, Tree, count


@dataclass(frozen=True, slots=True)
class Wanted:
    """An object that should be there, and the clique templates that it is made of, by name."""

    manifest: Tree
    templates: tuple[Tree, ...] = ()

    @property
    def name(self) -> str:
        """Its name."""
        return self.manifest["metadata"]["name"]


def templates_of(parent: Seen) -> dict[str, Tree]:
    """The clique templates of a set by name, in their order."""
    return {each["name"]: each for each in parent.spec["template"]["cliques"]}


def group_configs(parent: Seen) -> list[Tree]:
    """The scaling groups that a set asks for."""
    return parent.spec["template"].get("podCliqueScalingGroups") or []


def template_hash(template: Tree) -> str:
    """Changes when pods have to be replaced."""
    return _hashed([template.get("labels"), template.get("annotations"), template["spec"]["podSpec"]])


def generation_hash(parent: Seen) -> str:
    """Changes when some clique has to be rolled, or when they stand in another order."""
    return _hashed([template_hash(each) for each in templates_of(parent).values()])


def wanted_services(parent: Seen) -> list[Wanted]:
    """A headless Service for each replica of the set."""
    config = parent.spec["template"].get("headlessServiceConfig")
    return [Wanted(_service(parent, index, config)) for index in _replicas(parent)] if config else []


def wanted_groups(parent: Seen) -> list[Wanted]:
    """The scaling groups, with the numbers that new ones start with."""
    found = templates_of(parent)
    return [
        Wanted(_group(parent, index, config), tuple(found[name] for name in config["cliqueNames"]))
        for index in _replicas(parent)
        for config in group_configs(parent)
    ]


def wanted_cliques(gang: Gang, parent: Seen) -> list[Wanted]:
    """The PodCliques: one for each template, or one for each replica of its scaling group."""
    return [*_standing_alone(parent), *_in_groups(gang, parent)]


def pod_manifest(parent: Seen, clique: Seen, index: int) -> Tree:
    """The pod of a PodClique with that index; the API server completes its name."""
    replica = clique.label(facts.SET_INDEX)
    template = templates_of(parent)[clique.spec["roleName"]]
    kept = (facts.MANAGED_BY, facts.PART_OF, facts.GANG, facts.SET_INDEX, facts.TEMPLATE_HASH)
    grouped = (facts.SCALING_GROUP, facts.GROUP_INDEX)
    own = {key: clique.label(key) for key in (*kept, *grouped) if clique.label(key)}
    variables = _variables(parent, clique, index)
    spec = {
        **clique.spec["podSpec"],
        "hostname": f"{clique.name}-{index}",
        "subdomain": f"{parent.name}-{replica}",
        "schedulingGates": [{"name": facts.GATE}],
        **{
            kind: [_told(each, variables) for each in clique.spec["podSpec"][kind]]
            for kind in ("containers", "initContainers")
            if kind in clique.spec["podSpec"]
        },
    }
    metadata = {
        "generateName": f"{clique.name}-",
        "namespace": clique.metadata.namespace,
        "labels": {**(template.get("labels") or {}), **own, facts.CLIQUE: clique.name},
        "annotations": dict(clique.metadata.annotations),
        "ownerReferences": [_owner(clique, facts.CLIQUES)],
    }
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}


def _standing_alone(parent: Seen) -> Iterator[Wanted]:
    grouped = {name for config in group_configs(parent) for name in config["cliqueNames"]}
    for index in _replicas(parent):
        for name, template in templates_of(parent).items():
            if name not in grouped:
                prefix = f"{parent.name}-{index}"
                labels = {facts.COMPONENT: "pcs-podclique", facts.SET_INDEX: str(index), facts.GANG: prefix}
                yield Wanted(_clique(parent, template, prefix, labels, _owner(parent, facts.SETS)), (template,))


def _in_groups(gang: Gang, parent: Seen) -> Iterator[Wanted]:
    found = templates_of(parent)
    for group in gang.groups:
        if group.metadata.deleting:
            continue
        for index in range(count(group.spec, "replicas", 1)):
            base = f"{parent.name}-{group.label(facts.SET_INDEX)}"
            beyond = index - count(group.spec, "minAvailable", 1)
            labels = {
                facts.GANG: base if beyond < 0 else f"{group.name}-{beyond}",
                facts.COMPONENT: "pcsg-podclique",
                facts.SET_INDEX: group.label(facts.SET_INDEX),
                facts.SCALING_GROUP: group.name,
                facts.GROUP_INDEX: str(index),
            }
            for name in group.spec["cliqueNames"]:
                owner = _owner(group, facts.GROUPS)
                yield Wanted(_clique(parent, found[name], f"{group.name}-{index}", labels, owner), (found[name],))


def _clique(parent: Seen, template: Tree, prefix: str, labels: Tree, owner: Tree) -> Tree:
    name = f"{prefix}-{template['name']}"
    own = {
        facts.NAME: name,
        facts.TEMPLATE_HASH: template_hash(template),
        **labels,
    }
    after = [f"{prefix}-{each}" for each in template["spec"].get("startsAfter") or ()]
    spec = {**template["spec"], **({"startsAfter": after} if after else {})}
    manifest = _object(parent, facts.CLIQUES, name, {**(template.get("labels") or {}), **own}, owner)
    manifest["metadata"]["annotations"] = dict(template.get("annotations") or {})
    return {**manifest, "spec": spec}


def _group(parent: Seen, index: int, config: Tree) -> Tree:
    name = f"{parent.name}-{index}-{config['name']}"
    labels = {facts.NAME: name, facts.COMPONENT: "pcs-podcliquescalinggroup", facts.SET_INDEX: str(index)}
    spec = {key: config[key] for key in ("replicas", "minAvailable", "cliqueNames") if key in config}
    return {**_object(parent, facts.GROUPS, name, labels, _owner(parent, facts.SETS)), "spec": spec}


def _service(parent: Seen, index: int, config: Tree) -> Tree:
    name = f"{parent.name}-{index}"
    chosen = {facts.MANAGED_BY: facts.GROVE, facts.PART_OF: parent.name, facts.SET_INDEX: str(index)}
    labels = {facts.NAME: name, facts.COMPONENT: "pcs-headless-service", facts.SET_INDEX: str(index)}
    manifest = _object(parent, facts.SERVICES, name, labels, _owner(parent, facts.SETS))
    published = bool(config.get("publishNotReadyAddresses"))
    return {**manifest, "spec": {"clusterIP": "None", "selector": chosen, "publishNotReadyAddresses": published}}


def _object(parent: Seen, kind: Any, name: str, labels: Tree, owner: Tree) -> Tree:
    metadata: Tree = {
        "name": name,
        "namespace": parent.metadata.namespace,
        "labels": {**labels, facts.MANAGED_BY: facts.GROVE, facts.PART_OF: parent.name},
        "ownerReferences": [owner],
    }
    if kind in facts.FINALIZERS:
        metadata["finalizers"] = [facts.FINALIZERS[kind]]
    return {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": metadata}


def _owner(owner: Seen, kind: Any) -> Tree:
    return {
        "apiVersion": kind.api_version,
        "kind": kind.kind,
        "name": owner.name,
        "uid": owner.metadata.uid,
        "controller": True,
        "blockOwnerDeletion": True,
    }


def _variables(parent: Seen, clique: Seen, index: int) -> list[Tree]:
    replica = clique.label(facts.SET_INDEX)
    values = {
        "GROVE_PCS_NAME": parent.name,
        "GROVE_PCS_INDEX": replica,
        "GROVE_PCLQ_NAME": clique.name,
        "GROVE_PCLQ_POD_INDEX": str(index),
        "GROVE_HEADLESS_SERVICE": f"{parent.name}-{replica}.{clique.metadata.namespace}.svc.cluster.local",
    }
    if group := clique.label(facts.SCALING_GROUP):
        values |= {
            "GROVE_PCSG_NAME": group,
            "GROVE_PCSG_INDEX": clique.label(facts.GROUP_INDEX),
            "GROVE_PCSG_TEMPLATE_NUM_PODS": str(_pods_of_group(parent, group)),
        }
    return [{"name": name, "value": value} for name, value in values.items()]


def _pods_of_group(parent: Seen, group: str) -> int:
    found = templates_of(parent)
    mine = next((config for config in group_configs(parent) if group.endswith(f"-{config['name']}")), {})
    return sum(count(found[name]["spec"], "replicas", 1) for name in mine.get("cliqueNames", ()))


def _told(container: Tree, variables: list[Tree]) -> Tree:
    return {**container, "env": [*(container.get("env") or []), *variables]}


def _replicas(parent: Seen) -> range:
    return range(count(parent.spec, "replicas"))


def _hashed(tree: Any) -> str:
    return hashlib.sha256(json.dumps(tree, sort_keys=True).encode()).hexdigest()[:16]
