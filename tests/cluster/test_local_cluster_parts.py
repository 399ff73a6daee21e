"""The parts of the local cluster that need no control plane: names, ports, builds, processes, words for trouble."""

from __future__ import annotations

import os
import shutil
import socket
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner
from cluster.__main__ import main
from cluster.addons import optional_addons, parse_addons
from cluster.build import check_space, link_flags, module_version, tools_key, versions
from cluster.certificates import make_authority
from cluster.errors import ClusterError
from cluster.layout import STAGE_FOLDER, Layout, layout_of
from cluster.lifecycle import Wish, list_layouts, render_stages, start
from cluster.lws import render_lws_config
from cluster.modules import ModuleFile, load_module_file
from cluster.nodes import render_node
from cluster.ports import choose_ports
from cluster.processes import belongs, delete_processes, load_pids, write_process
from cluster.programs import (
    GROVE,
    GROVE_WEBHOOK,
    KAI,
    LWS,
    LWS_WEBHOOK,
    PORT_NAMES,
    PROGRAM_OF,
    SCHEDULER,
    VOLCANO,
    Site,
    certificate_folder,
    command_of,
    port_names,
    programs_of,
)
from cluster.readiness import wait_until
from cluster.schedulers import render_scheduler_config
from cluster.state import State, load_state, write_state
from cluster.toolchain import Go, load_go, parse_version
from cryptography import x509

from cluster import addons, build, lifecycle, modules, toolchain

PORTS = {name: 20000 + index for index, name in enumerate(PORT_NAMES)}


def silent(_: str) -> None:
    """Take progress and drop it."""


@pytest.fixture
def layout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Layout:
    """A cluster's folder that is not in the checkout."""
    monkeypatch.setattr(lifecycle, "clusters_folder", lambda: tmp_path / ".cluster")
    return Layout(tmp_path / ".cluster" / "one")


def fake_program(tools: Path, name: str, script: str) -> None:
    tools.mkdir(exist_ok=True)
    (tools / name).write_text(f"#!/bin/sh\n{script}\n")
    (tools / name).chmod(0o755)


@pytest.mark.parametrize("name", ["default", "a", "x-1", "a" * 40])
def test_usable_names(name: str) -> None:
    assert layout_of(name).name == name


@pytest.mark.parametrize(
    "name",
    [
        pytest.param("", id="empty: refused"),
        pytest.param("../up", id="a path: refused"),
        pytest.param("-dash", id="a dash in front: refused"),
        pytest.param("a" * 41, id="too long: refused"),
    ],
)
def test_unusable_names(name: str) -> None:
    with pytest.raises(ClusterError, match="not usable"):
        layout_of(name)


def test_addons_are_sorted_and_named_once() -> None:
    assert parse_addons(" istio,,istio ") == ("istio",)


def test_addons_of_every_cluster_may_be_asked_for_and_change_nothing() -> None:
    assert parse_addons("inference-pool") == ()


def test_unknown_addon_is_refused_with_the_list() -> None:
    with pytest.raises(ClusterError, match=f"unknown add-on nope; known add-ons: {', '.join(optional_addons())}"):
        parse_addons("istio,nope")


def test_ports_are_remembered_and_differ() -> None:
    first = choose_ports(["a", "b"], fixed={}, remembered={})
    assert first["a"] != first["b"]
    assert choose_ports(["a", "b"], fixed={}, remembered=first) == first


def test_remembered_port_that_another_cluster_has_is_not_taken() -> None:
    first = choose_ports(["a"], fixed={}, remembered={})
    assert choose_ports(["a"], fixed={}, remembered=first, avoid=first.values()) != first


def test_fixed_port_that_is_taken_is_said_to_be() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(ClusterError, match=f"port {port} for apiserver is taken on 127.0.0.1; stop what"):
            choose_ports(["apiserver"], fixed={"apiserver": port}, remembered={})


def test_every_program_has_a_version() -> None:
    assert set(PROGRAM_OF.values()) | {"kubectl", "helm"} == set(versions())


def test_module_that_is_not_required_is_named() -> None:
    with pytest.raises(ClusterError, match=r"requires no version of example.com/none"):
        module_version("example.com/none", "module cluster\n")


def test_kubernetes_programs_are_told_their_version() -> None:
    flags = link_flags("v1.36.3")
    assert "version.gitVersion=v1.36.3 " in flags
    assert "version.gitMinor=36 " in flags


def test_addon_programs_are_built_and_run_only_where_they_are_asked_for(layout: Layout) -> None:
    plain = Site(layout, Path("/tools"), PORTS)
    assert LWS not in programs_of(plain)
    assert programs_of(replace(plain, addons=(LWS, VOLCANO)))[LWS] in versions((LWS, VOLCANO))
    assert set(port_names((LWS,))) > set(port_names(()))


def test_lws_finds_its_configuration_and_certificate_in_the_folder(layout: Layout) -> None:
    site = Site(layout, Path("/tools"), {**PORTS, LWS: 1, LWS_WEBHOOK: 2}, (LWS,))
    assert f"--config={layout.folder}/lws.yaml" in command_of(LWS, site)
    webhook = render_lws_config(site)["webhook"]
    assert webhook == {"host": "127.0.0.1", "port": 2, "certDir": str(certificate_folder(site, LWS))}


@pytest.mark.parametrize(
    ("addon", "name"), [pytest.param(VOLCANO, "volcano", id="volcano"), pytest.param(KAI, "kai-scheduler", id="kai")]
)
def test_scheduler_has_a_second_name_with_some_addons_only(layout: Layout, addon: str, name: str) -> None:
    plain = Site(layout, Path("/tools"), PORTS)
    assert not [option for option in command_of(SCHEDULER, plain) if option.startswith("--config")]
    with_addon = replace(plain, addons=(addon,))
    assert f"--config={layout.folder}/scheduler.yaml" in command_of(SCHEDULER, with_addon)
    names = [profile["schedulerName"] for profile in render_scheduler_config(with_addon)["profiles"]]
    assert names == ["default-scheduler", name]


def test_bare_definitions_lose_texts_and_no_property() -> None:
    schema = {"description": "text", "properties": {"description": {"type": "string", "description": "text"}}}
    bare = {"properties": {"description": {"type": "string"}}}
    assert addons._undescribed({"versions": [schema]}) == {"versions": [bare]}


def test_the_stand_in_for_grove_is_a_module_of_this_checkout(layout: Layout) -> None:
    site = Site(layout, Path("/tools"), {**PORTS, GROVE: 1, GROVE_WEBHOOK: 2}, (GROVE,))
    command = command_of(GROVE, site)
    assert command[:3] == [sys.executable, "-m", "cluster.grove"]
    assert f"--certificates={layout.folder}/certificates/grove" in command


def test_another_go_version_is_another_cache_folder() -> None:
    assert tools_key("1.26.0") != tools_key("1.26.1")


def test_too_little_space_is_said_with_where(tmp_path: Path) -> None:
    with pytest.raises(ClusterError, match=r"GB free and .* GB are needed"):
        check_space(tmp_path / "not" / "there", 1 << 60)


@pytest.mark.parametrize(("text", "wanted"), [("go1.26.8", (1, 26, 8)), ("1.26rc1", (1, 26)), ("devel", ())])
def test_go_versions(text: str, wanted: tuple[int, ...]) -> None:
    assert parse_version(text) == wanted


@pytest.mark.parametrize(
    ("found", "words"),
    [
        pytest.param([], "Go is not installed", id="no go: one is installed"),
        pytest.param([Go(Path("/old"), "1.21.1")], "Go 1.21.1 is older than", id="old go: a newer one is installed"),
    ],
)
def test_missing_go_is_installed(monkeypatch: pytest.MonkeyPatch, found: list[Go], words: str) -> None:
    said: list[str] = []
    wanted = Go(Path("/new"), toolchain.PINNED_GO)
    monkeypatch.setattr(toolchain, "_candidates", lambda: found)
    monkeypatch.setattr(toolchain, "_version_of", lambda go: go)
    monkeypatch.setattr(toolchain, "_install", lambda: wanted)
    assert load_go(said.append) == wanted
    assert words in said[0]


def test_go_that_cannot_be_installed_says_what_to_do(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    fake_program(tmp_path, "python", "echo no network >&2; exit 1")
    monkeypatch.setattr(toolchain.sys, "executable", str(tmp_path / "python"))
    monkeypatch.setattr(toolchain, "_candidates", list)
    with pytest.raises(ClusterError, match=r"(?s)no network.*install Go .* put it on PATH"):
        load_go(silent)


def test_pinned_go_is_new_enough() -> None:
    assert parse_version(toolchain.PINNED_GO) >= parse_version(toolchain.wanted_version())


def fake_go(folder: Path, script: str) -> Go:
    fake_program(folder, "go", script)
    return Go(folder / "go", "1.26.0")


def test_failed_build_shows_the_last_lines_and_leaves_nothing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    go = fake_go(tmp_path / "go", "echo k8s.io/broken: no such package >&2; exit 1")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(build, "load_go", lambda say: go)
    with pytest.raises(ClusterError, match=r"(?s)could not be built.*k8s.io/broken: no such package"):
        build.load_tools(silent)
    assert [path for path in (tmp_path / "cache").rglob("*") if path.name.count("building")] == []


def test_build_is_made_once_and_renamed_into_place(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    names = " ".join(program.built_as for program in build.PROGRAMS)
    # The folder is what follows -o.
    script = f'while [ "$1" != -o ]; do shift; done; for name in {names}; do echo x >> "$2$name"; done'
    go = fake_go(tmp_path / "go", script)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(build, "load_go", lambda say: go)
    folder = build.load_tools(silent)
    assert build.load_tools(silent) == folder
    assert {path.name: path.read_text() for path in folder.iterdir()} == dict.fromkeys(versions(), "x\n")


def test_module_with_another_hash_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    go = fake_go(tmp_path / "go", 'echo \'{"Sum": "h1:other", "Dir": "/"}\'')
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(modules, "load_go", lambda say: go)
    with pytest.raises(ClusterError, match="has the hash h1:other instead of h1:pinned"):
        load_module_file(ModuleFile("example.com/m", "v1.0.0", "h1:pinned", "a.yaml"), silent)


def test_certificates_chain_to_the_authority_and_name_user_and_groups() -> None:
    authority = make_authority("test")
    certificate = x509.load_pem_x509_certificate(authority.issue_client("operator", groups=("g",)).certificate)
    certificate.verify_directly_issued_by(authority.certificate)
    assert certificate.subject.rfc4514_string() == "CN=operator,O=g"


def test_keys_are_readable_by_their_owner_only(tmp_path: Path) -> None:
    make_authority("test").pair().write(tmp_path, "authority")
    assert (tmp_path / "authority.key").stat().st_mode & 0o777 == 0o600


def test_nodes_carry_eight_gpus() -> None:
    node = render_node(3)
    assert node["metadata"]["name"] == "gpu-03"
    assert node["status"]["allocatable"]["nvidia.com/gpu"] == "8"


@pytest.mark.parametrize("stem", PROGRAM_OF)
def test_every_program_names_its_cluster_on_its_command_line(layout: Layout, stem: str) -> None:
    program, *options = command_of(stem, Site(layout, Path("/tools"), PORTS))
    assert program == f"/tools/{PROGRAM_OF[stem]}"
    assert any(f"{layout.folder}/" in option for option in options)
    assert any(str(PORTS[stem]) in option for option in options)


def test_stages_have_names_of_their_own() -> None:
    names = [stage["metadata"]["name"] for stage in yaml.safe_load_all(render_stages())]
    assert len(names) == len(set(names)) >= len(list(STAGE_FOLDER.iterdir()))


def test_pid_of_somebody_else_is_left_alone(layout: Layout) -> None:
    layout.pids.mkdir(parents=True)
    (layout.pids / "etcd.pid").write_text(f"{os.getpid()}\n")
    assert load_pids(layout) == {}
    assert delete_processes(layout) == []


def test_process_is_known_by_its_pid_file_and_killed(layout: Layout) -> None:
    layout.folder.mkdir(parents=True)
    data = layout.folder / "data"
    data.touch()
    pid = write_process(layout, "etcd", [shutil.which("tail") or "tail", "-f", str(data)])
    wait_until(lambda: belongs(layout, pid), deadline=time.monotonic() + 5)
    (layout.pids / "apiserver.pid").write_text("not a number\n")
    (layout.pids / "kwok.pid").write_text("999999999\n")
    assert load_pids(layout) == {"etcd": pid}
    assert delete_processes(layout) == ["etcd"]
    assert not belongs(layout, pid)
    assert list(layout.pids.iterdir()) == []


def test_program_that_dies_is_shown_with_the_end_of_its_log(
    layout: Layout, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    fake_program(tmp_path / "tools", "etcd", "echo the disk is on fire; exit 1")
    monkeypatch.setattr(lifecycle, "load_tools", lambda *_: tmp_path / "tools")
    with pytest.raises(ClusterError, match=r"(?s)etcd ended while it was starting.*logs/etcd.log:\n  the disk is on"):
        start(layout, Wish(own_crds=False), silent)
    assert load_pids(layout) == {}


def test_state_survives_writing_and_reading(layout: Layout) -> None:
    state = State(ports=PORTS, tools="/tools", fingerprint="f", ready=True, addons=["istio"])
    write_state(layout.state, state)
    assert load_state(layout.state) == state
    assert list_layouts() == [layout]


@pytest.mark.parametrize("text", ["", "[]", '{"ports": {}}', '{"unknown": 1}'])
def test_state_of_another_version_counts_as_none(layout: Layout, text: str) -> None:
    layout.folder.mkdir(parents=True)
    layout.state.write_text(text)
    assert load_state(layout.state) is None


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        pytest.param(["start", "--with", "nope"], "unknown add-on nope", id="unknown add-on: the list"),
        pytest.param(["start", "--name", "A!"], "is not usable", id="bad name: what is allowed"),
        pytest.param(["status", "--name", "never-started"], "there is no cluster never-started", id="status of none"),
    ],
)
def test_trouble_is_told_in_one_line(arguments: list[str], words: str) -> None:
    result = CliRunner().invoke(main, arguments)
    assert result.exit_code == 1
    assert result.output.startswith("error: ")
    assert words in result.output


def test_stopping_what_does_not_run_is_no_error() -> None:
    result = CliRunner().invoke(main, ["stop", "--name", "never-started"])
    assert (result.exit_code, result.output) == (0, "cluster never-started was not running\n")
