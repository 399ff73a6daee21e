"""The scripts that run one program on several nodes by MPI over SSH (specification: workloads.md 8.5).

They restart pods when they change, oddities included.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from dynamo_operator.domain.labels import SSH_PORT
from dynamo_operator.render.backends.contract import Placement

KEY_FOLDER: Final = "/ssh-pk"
"""Where the key pair is mounted."""

# mpirun passes a variable to other nodes only when it is named; these may come from the image.
_PASSED: Final = (
    "CUDA_VISIBLE_DEVICES",
    "HF_DATASETS_CACHE",
    "HF_ENDPOINT",
    "HF_HOME",
    "HF_TOKEN",
    "HOME",
    "HUGGING_FACE_HUB_TOKEN",
    "LD_LIBRARY_PATH",
    "MODEL_PATH",
    "NCCL_DEBUG",
    "NCCL_IB_DISABLE",
    "NCCL_P2P_DISABLE",
    "PATH",
    "PYTHONPATH",
    "TENSORRT_LLM_CACHE_DIR",
    "TOKENIZERS_PARALLELISM",
    "TRANSFORMERS_CACHE",
    "TRTLLM_USE_UCX_KVCACHE",
    "USER",
)

_HOST_KEYS: Final = ("rsa", "ecdsa", "ed25519")


def leader_script(place: Placement, program: str, *, processes: int, variables: Iterable[str]) -> str:
    """Waits for the workers' names and runs a program, given in quotes for a shell, on all nodes at once."""
    peers = place.peers
    exports = " ".join(f"-x {name}" for name in sorted({*variables, *_PASSED}))
    steps = list(_ssh_steps("~/.ssh"))
    if peers.awaits_names:
        steps.append(_await_names(" ".join(peers.workers)))
    steps.append(
        f"mpirun --allow-run-as-root --oversubscribe -n {processes} -H {','.join([peers.leader, *peers.workers])} "
        f'--mca pml ob1 --mca plm_rsh_args "-p {SSH_PORT} -o StrictHostKeyChecking=no -i ~/.ssh/id_rsa" '
        f"{exports} bash -c {program}"
    )
    return " && ".join(steps)


def worker_script() -> str:
    """Serves SSH to the leader."""
    steps = [*_ssh_steps("~/.ssh ~/.ssh/host_keys ~/.ssh/run")]
    steps += [f"ssh-keygen -t {sort} -f {_host_key(sort)} -N ''" for sort in _HOST_KEYS]
    configuration = [
        f"Port {SSH_PORT}",
        *(f"HostKey {_host_key(sort)}" for sort in _HOST_KEYS),
        "PidFile ~/.ssh/run/sshd.pid",
        "PermitRootLogin yes",
        "PasswordAuthentication no",
        "PubkeyAuthentication yes",
        "AuthorizedKeysFile ~/.ssh/authorized_keys",
    ]
    steps += [_written(configuration, "~/.ssh/sshd_config"), "/usr/sbin/sshd -D -f ~/.ssh/sshd_config"]
    return " && ".join(steps)


def _host_key(sort: str) -> str:
    return f"~/.ssh/host_keys/ssh_host_{sort}_key"


def _ssh_steps(folders: str) -> Iterator[str]:
    """Puts the key pair where SSH looks for it."""
    yield f"mkdir -p {folders}"
    yield f"ls -la {KEY_FOLDER}/"
    yield f"cp {KEY_FOLDER}/private.key ~/.ssh/id_rsa"
    yield f"cp {KEY_FOLDER}/private.key.pub ~/.ssh/id_rsa.pub"
    yield f"cp {KEY_FOLDER}/private.key.pub ~/.ssh/authorized_keys"
    yield "chmod 600 ~/.ssh/id_rsa ~/.ssh/authorized_keys"
    yield "chmod 644 ~/.ssh/id_rsa.pub ~/.ssh/authorized_keys"
    client = ["Host *", "IdentityFile ~/.ssh/id_rsa", "StrictHostKeyChecking no", f"Port {SSH_PORT}"]
    yield _written(client, "~/.ssh/config")


def _written(lines: Iterable[str], path: str) -> str:
    text = "".join(rf"{line}\n" for line in lines)
    return f"printf '{text}' > {path}"


def _await_names(workers: str) -> str:
    return (
        f"TIMEOUT=300; START_TIME=$(date +%s); for worker in {workers}; do "
        'echo "Waiting for DNS: $worker"; until getent hosts $worker >/dev/null 2>&1; do CURRENT_TIME=$(date +%s); '
        "if [ $((CURRENT_TIME - START_TIME)) -gt $TIMEOUT ]; then "
        'echo "ERROR: Timeout waiting for DNS: $worker"; exit 1; fi; '
        'echo "DNS not ready for $worker, retrying..."; sleep 2; done; echo "✓ DNS resolved: $worker"; done; '
        'echo "All workers DNS ready"'
    )
