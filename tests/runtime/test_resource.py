import pytest

from dynamo_operator.runtime.resource import Key, Resource

PODS = Resource("", "v1", "Pod", "pods")
GRAPHS = Resource("nvidia.com", "v1alpha1", "DynamoGraphDeployment", "dynamographdeployments")
ROLES = Resource("rbac.authorization.k8s.io", "v1", "ClusterRole", "clusterroles", namespaced=False)


@pytest.mark.parametrize(
    ("resource", "place", "path"),
    [
        pytest.param(PODS, (), "/api/v1/pods", id="core kind in all namespaces: under /api"),
        pytest.param(PODS, ("demo",), "/api/v1/namespaces/demo/pods", id="namespace: its collection"),
        pytest.param(
            GRAPHS,
            ("demo", "llm", "status"),
            "/apis/nvidia.com/v1alpha1/namespaces/demo/dynamographdeployments/llm/status",
            id="subresource of an object in a group: the whole path",
        ),
        pytest.param(
            ROLES,
            ("ignored", "system:x/y"),
            "/apis/rbac.authorization.k8s.io/v1/clusterroles/system:x%2Fy",
            id="cluster-scoped kind with an RBAC name: no namespace, slash encoded",
        ),
    ],
)
def test_paths(resource: Resource, place: tuple[str, ...], path: str) -> None:
    assert resource.path(*place) == path


@pytest.mark.parametrize("name", [".", ".."])
def test_names_that_move_within_a_path_are_refused(name: str) -> None:
    with pytest.raises(ValueError, match="no name"):
        PODS.path("demo", name)


def test_texts_for_people() -> None:
    assert str(Key("demo", "llm")) == "demo/llm"
    assert str(Key("", "node-1")) == "node-1"
    assert str(GRAPHS) == "DynamoGraphDeployment"
    assert (PODS.api_version, GRAPHS.api_version) == ("v1", "nvidia.com/v1alpha1")
