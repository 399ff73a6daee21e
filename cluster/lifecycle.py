"""Starts, reuses, repairs and stops clusters: the story that the other modules are the parts of."""

from __future__ import annotations

import hashlib
import json
import shutil
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import yaml

from cluster.build import check_space, load_tools
from cluster.credentials import write_credentials
from cluster.errors import ClusterError
from cluster.grove.install import load_grove_webhooks, source_key
from cluster.install import (
    Manifests,
    apply_definitions,
    apply_objects,
    apply_webhooks,
    content_key,
    load_definitions,
    load_own_crds,
)
from cluster.layout import STAGE_FOLDER, Layout, clusters_folder
from cluster.locking import exclusive
from cluster.lws import load_lws_webhooks, render_lws_config
from cluster.ports import choose_ports
from cluster.processes import delete_processes, last_lines, load_pids, write_process
from cluster.programs import (
    API_SERVER,
    AUDIT_POLICY,
    CONTROLLER_MANAGER,
    ETCD,
    GROVE,
    GROVE_WEBHOOK,
    KWOK,
    LWS,
    LWS_WEBHOOK,
    SCHEDULER,
    SCHEDULER_NAMES,
    Site,
    addon_programs,
    command_of,
    port_names,
    programs_of,
)
from cluster.readiness import answers, wait_ready
from cluster.schedulers import render_scheduler_config
from cluster.state import State, load_state, write_state
from cluster.toolchain import Say

DATA_SPACE = 512 * 1024**2
"""Bytes that must be free for a cluster's data and logs."""


@dataclass(frozen=True, slots=True)
class Wish:
    """What the caller wants of a cluster: optional add-ons, our own definitions or none, and fixed ports by stem."""

    addons: tuple[str, ...] = ()
    own_crds: bool = True
    ports: dict[str, int] = field(default_factory=dict[str, int])


def start(layout: Layout, wish: Wish, say: Say) -> Site:
    """Start the cluster or reuse it where it runs; returns when it is ready. Raises ClusterError."""
    own_crds = load_own_crds() if wish.own_crds else []
    wish = _with_former_addons(layout, wish)
    tools = load_tools(say, wish.addons)
    with exclusive(layout.lock):
        site = _reusable(layout, tools, wish)
        if site is None:
            site = _start_afresh(layout, tools, wish, say)
        _install(site, wish, own_crds=own_crds, say=say)
    return site


def stop(layout: Layout) -> list[str]:
    """Kill the cluster's programs and remove its folder; returns the stems of what ran."""
    with exclusive(layout.lock):
        stopped = delete_processes(layout)
        shutil.rmtree(layout.folder, ignore_errors=True)
    return stopped


def load_site(layout: Layout) -> Site | None:
    """The cluster as it was last started, or None where there is none; it may have died since."""
    state = load_state(layout.state)
    return Site(layout, Path(state.tools), state.ports, tuple(state.addons)) if state else None


def is_healthy(site: Site) -> bool:
    """Whether every program of the cluster runs and the API server is ready."""
    return set(load_pids(site.layout)) == set(programs_of(site)) and answers(site, API_SERVER)


def list_layouts() -> list[Layout]:
    """All clusters of this checkout, by name."""
    return [Layout(state.parent) for state in sorted(clusters_folder().glob("*/state.json"))]


def render_stages() -> str:
    """All stages as one YAML stream, for kwok."""
    return "---\n".join(file.read_text() for file in sorted(STAGE_FOLDER.glob("*.yaml")))


def _with_former_addons(layout: Layout, wish: Wish) -> Wish:
    """A cluster that runs, or ran before it broke, keeps the add-ons that it has."""
    state = load_state(layout.state)
    return replace(wish, addons=tuple(sorted({*wish.addons, *(state.addons if state else ())})))


def _reusable(layout: Layout, tools: Path, wish: Wish) -> Site | None:
    """The running cluster, if all of it answers and it was started from what a start would use now."""
    state = load_state(layout.state)
    if state is None or not state.ready:
        return None
    site = Site(layout, tools, state.ports, wish.addons)
    if not set(port_names(wish.addons)) <= set(state.ports):
        return None
    wanted_ports = {**state.ports, **wish.ports}
    same = state.fingerprint == _fingerprint(site) and wanted_ports == state.ports
    return site if same and is_healthy(site) else None


def _fingerprint(site: Site) -> str:
    """Hash of everything that running programs were started from."""
    commands = {stem: command_of(stem, site) for stem in programs_of(site)}
    sources = [source_key()] if GROVE in site.addons else []
    parts = [commands, render_stages(), AUDIT_POLICY, *sources, *_configurations(site).values()]
    text = json.dumps(parts, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:24]


def _start_afresh(layout: Layout, tools: Path, wish: Wish, say: Say) -> Site:
    """Remove what is left of the cluster, write its folder anew and start every program."""
    old = load_state(layout.state)
    if delete_processes(layout):
        say(f"cluster {layout.name} was incomplete or out of date: starting it anew, and empty")
    shutil.rmtree(layout.folder, ignore_errors=True)
    check_space(layout.folder, DATA_SPACE)
    site = _claim_ports(layout, tools, wish, remembered=old.ports if old else {})
    _write_folder(site)
    try:
        _start_programs(site, say)
    except BaseException:
        delete_processes(layout)
        raise
    return site


def _claim_ports(layout: Layout, tools: Path, wish: Wish, *, remembered: dict[str, int]) -> Site:
    """Choose ports and remember them at once, so that no other start of this checkout takes them."""
    with exclusive(clusters_folder() / ".ports.lock"):
        others = [state.ports for each in list_layouts() if (state := load_state(each.state))]
        avoid = {port for ports in others for port in ports.values()}
        ports = choose_ports(port_names(wish.addons), fixed=wish.ports, remembered=remembered, avoid=avoid)
        site = Site(layout, tools, ports, wish.addons)
        state = State(ports=ports, tools=str(tools), fingerprint=_fingerprint(site), addons=list(wish.addons))
        write_state(layout.state, state)
    return site


def _write_folder(site: Site) -> None:
    layout = site.layout
    layout.bin.unlink(missing_ok=True)
    layout.bin.symlink_to(site.tools, target_is_directory=True)
    (layout.folder / "audit-policy.yaml").write_text(yaml.safe_dump(AUDIT_POLICY))
    (layout.folder / "kwok.yaml").write_text(render_stages())
    for name, configuration in _configurations(site).items():
        (layout.folder / name).write_text(yaml.safe_dump(configuration))
    write_credentials(site)


def _configurations(site: Site) -> dict[str, Any]:
    """Configuration files that the add-ons need, by name."""
    scheduler = ("scheduler.yaml", render_scheduler_config)
    needed = {LWS: ("lws.yaml", render_lws_config), **dict.fromkeys(SCHEDULER_NAMES, scheduler)}
    return {name: render(site) for addon, (name, render) in needed.items() if addon in site.addons}


def _start_programs(site: Site, say: Say) -> None:
    """Start etcd, then the API server, then at the same time all that need it."""
    for stems in ((ETCD,), (API_SERVER,), (CONTROLLER_MANAGER, SCHEDULER, KWOK)):
        _start_together(site, stems, say)


def _start_together(site: Site, stems: Sequence[str], say: Say) -> None:
    began = time.monotonic()
    pids = {stem: write_process(site.layout, stem, command_of(stem, site)) for stem in stems}
    for stem, pid in pids.items():
        wait_ready(site, stem, pid)
    say(f"{', '.join(stems)} ready after {time.monotonic() - began:.1f} s")


def _start_addons(site: Site, say: Say) -> None:
    """Start the programs of add-ons, which need their definitions; then the API server may ask their webhooks."""
    if stems := tuple(addon_programs(site.addons)):
        _start_together(site, stems, say)
    if LWS in site.addons:
        apply_webhooks(site, load_lws_webhooks(site, say), port=site.ports[LWS_WEBHOOK])
    if GROVE in site.addons:
        apply_webhooks(site, load_grove_webhooks(site), port=site.ports[GROVE_WEBHOOK])


def _install(site: Site, wish: Wish, *, own_crds: Manifests, say: Say) -> None:
    """Apply definitions and first objects; a cluster that is reused gets what is new."""
    state = load_state(site.layout.state)
    if state is None:
        raise ClusterError(f"{site.layout.state} was removed while the cluster was starting; start it again")
    addons = sorted({*state.addons, *wish.addons})
    definitions = load_definitions(addons, own_crds, say)
    key = content_key(definitions)
    if state.ready and state.definitions == key:
        return
    began = time.monotonic()
    try:
        apply_definitions(site, definitions)
        if not state.ready:
            _start_addons(site, say)
            apply_objects(site)
    except ClusterError as error:
        raise ClusterError(f"{error}\n{last_lines(site.layout, API_SERVER)}") from error
    write_state(site.layout.state, replace(state, ready=True, addons=addons, definitions=key))
    say(f"definitions and nodes ready after {time.monotonic() - began:.1f} s")
