"""What Grove's webhooks fill in and refuse, in its words."""

from __future__ import annotations

import copy
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from cluster.grove.facts import Tree, count

_CLIQUES: Final = "spec.template.cliques"
_GROUPS: Final = "spec.template.podCliqueScalingGroups"
_EXPLICIT: Final = "CliqueStartupTypeExplicit"
_ORDERED: Final = (_EXPLICIT, "CliqueStartupTypeInOrder")
_LONGEST: Final = 45
_SUBDOMAIN: Final = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
_LABEL: Final = re.compile(r"(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?")
_WORDS_OF_LABELS: Final = (
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and "
    "end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is "
    "'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"
)


def defaulted(given: Mapping[str, Any]) -> Tree:
    """The set with everything that may be left out."""
    complete: Tree = copy.deepcopy(dict(given))
    template = complete["spec"]["template"]
    for clique in template.get("cliques") or ():
        spec = clique["spec"]
        spec["replicas"] = spec.get("replicas") or 1
        spec.setdefault("minAvailable", spec["replicas"])
        pod = spec.setdefault("podSpec", {})
        pod["restartPolicy"] = pod.get("restartPolicy") or "Always"
        pod.setdefault("terminationGracePeriodSeconds", 30)
    for group in template.get("podCliqueScalingGroups") or ():
        group.setdefault("replicas", 1)
        group.setdefault("minAvailable", 1)
    template.setdefault("terminationDelay", "4h0m0s")
    template.setdefault("headlessServiceConfig", {"publishNotReadyAddresses": True})
    return complete


def refusals(new: Mapping[str, Any], old: Mapping[str, Any] | None) -> list[str]:
    """What is wrong with a set, or with its change; each reason once."""
    # Grove compares the other way round: what it calls new is what was there.
    found = [*_wrong(new, creating=old is None), *(_changed(old, new) if old is not None else ())]
    return list(dict.fromkeys(found))


def refusal_text(reasons: Sequence[str]) -> str:
    """Several reasons as one text."""
    return reasons[0] if len(reasons) == 1 else f"[{', '.join(reasons)}]"


def _wrong(new: Mapping[str, Any], *, creating: bool) -> Iterator[str]:
    template = new["spec"]["template"]
    cliques, groups = _cliques(new), _groups(new)
    if not cliques:
        yield f"{_CLIQUES}: Required value: at least one PodClique must be defined"
    grouped = {name for group in groups for name in group["cliqueNames"]}
    for clique in cliques:
        yield from _wrong_clique(new, clique, creating=creating, alone=clique["name"] not in grouped)
    yield from _wrong_together(cliques)
    if template.get("cliqueStartupType") == _EXPLICIT:
        yield from _wrong_order(cliques)
    yield from _wrong_groups(new, groups, {clique["name"] for clique in cliques})


def _wrong_together(cliques: Sequence[Tree]) -> Iterator[str]:
    """What no clique alone has wrong."""
    yield from _repeated(f"{_CLIQUES}.name", (clique["name"] for clique in cliques))
    yield from _repeated(f"{_CLIQUES}.roleName", (clique["spec"].get("roleName", "") for clique in cliques))
    schedulers = dict.fromkeys(clique["spec"]["podSpec"].get("schedulerName") or "" for clique in cliques)
    if len({name or "default-scheduler" for name in schedulers}) > 1:
        text = "the schedulerName for all pods have to be the same"
        yield _invalid(f"{_CLIQUES}.spec.podSpec.schedulerName", ", ".join(schedulers), text)


def _wrong_clique(new: Mapping[str, Any], clique: Tree, *, creating: bool, alone: bool) -> Iterator[str]:
    for value in (clique.get("labels") or {}).values():
        yield from _wrong_label(value)
    name, spec = clique["name"], clique["spec"]
    if not _SUBDOMAIN.fullmatch(name):
        yield _invalid(f"{_CLIQUES}.name", name, "invalid PodCliqueTemplateSpec name, must be a valid DNS subdomain")
    if alone:
        yield from _too_long(new, [(f"{_CLIQUES}.name", name)], f"PodClique '{name}'", len(name))
    yield from _wrong_numbers(f"{_CLIQUES}.spec", spec)
    if creating:
        pod = spec["podSpec"]
        path = f"{_CLIQUES}.spec.podSpec.spec"
        if pod.get("topologySpreadConstraints") is not None:
            yield _invalid(f"{path}.topologySpreadConstraints", pod["topologySpreadConstraints"], "must not be set")
        if pod.get("nodeName"):
            yield _invalid(f"{path}.nodeName", pod["nodeName"], "must not be set")


def _wrong_label(value: str) -> Iterator[str]:
    if len(value) > 63:
        yield _invalid(f"{_CLIQUES}.labels", value, "must be no more than 63 characters")
    if not _LABEL.fullmatch(value):
        yield _invalid(f"{_CLIQUES}.labels", value, _WORDS_OF_LABELS)


def _wrong_numbers(path: str, spec: Mapping[str, Any]) -> Iterator[str]:
    replicas, minimum = count(spec, "replicas", 1), count(spec, "minAvailable", 1)
    if replicas <= 0:
        yield _invalid(f"{path}.replicas", replicas, "must be greater than 0")
    if minimum <= 0:
        yield _invalid(f"{path}.minAvailable", minimum, "must be greater than 0")
    if minimum > replicas:
        yield _invalid(f"{path}.minAvailable", minimum, "minAvailable must not be greater than replicas")


def _too_long(new: Mapping[str, Any], places: Sequence[tuple[str, str]], culprits: str, length: int) -> Iterator[str]:
    name = new["metadata"]["name"]
    if (whole := len(name) + length) > _LONGEST:
        text = (
            f"combined resource name length {whole} exceeds {_LONGEST}-character limit required for pod naming. "
            f"Consider shortening: PodCliqueSet '{name}' or {culprits}"
        )
        yield from (_invalid(path, value, text) for path, value in (*places, ("metadata.name", name)))


def _wrong_order(cliques: Sequence[Tree]) -> Iterator[str]:
    names = {clique["name"] for clique in cliques}
    after = {clique["name"]: list(clique["spec"].get("startsAfter") or ()) for clique in cliques}
    for name, others in after.items():
        if name in others:
            yield _invalid(f"{_CLIQUES}.spec.startsAfter", name, "clique dependency cannot refer to itself")
    unknown = sorted({other for others in after.values() for other in others} - names)
    if unknown:
        text = "unknown clique names found, all clique dependencies must be defined as cliques"
        yield _invalid(f"{_CLIQUES}.startsAfter", ",".join(unknown), text)
    if any(_comes_back(name, after) for name in names if name not in after[name]):
        yield f"{_CLIQUES}: Invalid value: clique must not have circular dependencies"


def _comes_back(start: str, after: Mapping[str, Sequence[str]]) -> bool:
    seen: set[str] = set()
    waiting = list(after[start])
    while waiting:
        name = waiting.pop()
        if name == start:
            return True
        if name not in seen:
            seen.add(name)
            waiting += after.get(name, ())
    return False


def _wrong_groups(new: Mapping[str, Any], groups: Sequence[Tree], cliques: set[str]) -> Iterator[str]:
    for group in groups:
        if not _SUBDOMAIN.fullmatch(group["name"]):
            text = "invalid PodCliqueScalingGroupConfig name, must be a valid DNS subdomain"
            yield _invalid(f"{_GROUPS}.name", group["name"], text)
        unknown = [name for name in group["cliqueNames"] if name not in cliques]
        if unknown:
            yield _invalid(f"{_GROUPS}.cliqueNames", ",".join(unknown), "unidentified PodClique names found")
        for name in group["cliqueNames"]:
            places = [(f"{_GROUPS}.cliqueNames.name", name), (f"{_GROUPS}.name", name)]
            culprits = f"PodCliqueScalingGroup '{group['name']}' or PodClique '{name}'"
            yield from _too_long(new, places, culprits, len(group["name"]) + len(name))
        yield from _wrong_numbers(_GROUPS, group)
    yield from _repeated(f"{_GROUPS}.name", (group["name"] for group in groups))
    yield from _repeated(f"{_GROUPS}.cliqueNames", (name for group in groups for name in group["cliqueNames"]))


def _changed(new: Mapping[str, Any], old: Mapping[str, Any]) -> Iterator[str]:
    yield from _changed_cliques(new, old)
    template, before = new["spec"]["template"], old["spec"]["template"]
    yield from _fixed("spec.template.cliqueStartupType", "cliqueStartupType", template, before)
    groups, former = _groups(new), {group["name"]: group for group in _groups(old)}
    if len(groups) != len(former):
        yield f"{_GROUPS}: Forbidden: not allowed to add or remove PodCliqueScalingGroupConfigs"
        return
    for group in groups:
        if group["name"] not in former:
            text = "not allowed to change scaling group composition, new scaling group name"
            yield f"{_GROUPS}.name: Forbidden: {text} '{group['name']}' is not allowed"
            continue
        for member in ("cliqueNames", "minAvailable"):
            yield from _fixed(f"{_GROUPS}.{member}", member, group, former[group["name"]])


def _changed_cliques(new: Mapping[str, Any], old: Mapping[str, Any]) -> Iterator[str]:
    cliques, former = _cliques(new), _cliques(old)
    if len(cliques) != len(former):
        yield f"{_CLIQUES}: Forbidden: not allowed to change clique composition"
    places = {clique["name"]: place for place, clique in enumerate(former)}
    ordered = new["spec"]["template"].get("cliqueStartupType") in _ORDERED
    for place, clique in enumerate(cliques):
        name = clique["name"]
        if name not in places:
            text = f"not allowed to change clique composition, new clique name '{name}' is not allowed"
            yield f"{_CLIQUES}.name: Forbidden: {text}"
            continue
        if ordered and place != places[name]:
            text = "clique order cannot be changed when StartupType is InOrder or Explicit."
            yield _invalid(_CLIQUES, name, f"{text} Expected '{name}' at position {place}, got '{name}'")
        for member in ("roleName", "minAvailable", "startsAfter"):
            yield from _fixed(f"{_CLIQUES}.spec.{member}", member, clique["spec"], former[places[name]]["spec"])


def _fixed(path: str, member: str, new: Mapping[str, Any], old: Mapping[str, Any]) -> Iterator[str]:
    if new.get(member) != old.get(member):
        yield _invalid(path, new.get(member), "field is immutable")


def _repeated(path: str, names: Iterable[str]) -> Iterator[str]:
    return (f'{path}: Duplicate value: "{name}"' for name, times in Counter(names).items() if times > 1)


def _invalid(path: str, value: Any, text: str) -> str:
    return f"{path}: Invalid value: {json.dumps(value)}: {text}"


def _cliques(tree: Mapping[str, Any]) -> list[Tree]:
    return tree["spec"]["template"].get("cliques") or []


def _groups(tree: Mapping[str, Any]) -> list[Tree]:
    return tree["spec"]["template"].get("podCliqueScalingGroups") or []
