"""Configuration of an endpoint picker (EPP) (specification: api.md 3.12)."""

from typing import Annotated, Any

from dynamo_operator.api.markers import Doc, Shaped
from dynamo_operator.api.meta import AnyValue, ApiType, ConfigMapKeySelector


class PickerPlugin(ApiType, frozen=True):
    """A plugin that the endpoint picker loads."""

    type: Annotated[str, Doc("Kind of plugin.", required=True)] = ""
    name: Annotated[str, Doc("Name by which scheduling profiles refer to the plugin; its type if absent.")] = ""
    parameters: Annotated[AnyValue, Doc("Parameters of the plugin, usually an object; passed on as they are.")] = None


class PickerPluginReference(ApiType, frozen=True):
    """A plugin's part in a scheduling profile."""

    plugin_ref: Annotated[str, Doc("Name of a plugin of this configuration.", required=True)] = ""
    weight: Annotated[int | None, Doc("Weight of the plugin's score, for plugins that score.")] = None


class PickerProfile(ApiType, frozen=True):
    """A way to choose an endpoint."""

    name: Annotated[str, Doc("Name of the profile.", required=True)] = ""
    plugins: Annotated[
        tuple[PickerPluginReference, ...], Doc("Plugins that take part, and how much they count.", required=True)
    ] = ()


class SaturationDetector(ApiType, frozen=True):
    """When an endpoint counts as having no room for another request."""

    queue_depth_threshold: Annotated[int | None, Doc("Waiting requests from which an endpoint is full.")] = None
    kv_cache_util_threshold: Annotated[
        float | None, Doc("Share of the KV cache in use, 0 to 1, from which an endpoint is full.")
    ] = None
    metrics_staleness_threshold: Annotated[
        str, Doc("Age from which an endpoint's metrics are not believed, as a duration such as `200ms`.")
    ] = ""


class EndpointPickerConfig(ApiType, frozen=True):
    """The endpoint picker's own configuration file; members not named here are passed on."""

    api_version: Annotated[str, Doc("Set by the operator to `inference.networking.x-k8s.io/v1alpha1`.")] = ""
    kind: Annotated[str, Doc("Set by the operator to `EndpointPickerConfig`.")] = ""
    plugins: Annotated[tuple[PickerPlugin, ...], Doc("Plugins to load.", required=True)] = ()
    scheduling_profiles: Annotated[tuple[PickerProfile, ...], Doc("Ways to choose an endpoint.", required=True)] = ()
    feature_gates: Annotated[tuple[str, ...], Doc("Optional features of the endpoint picker to turn on.")] = ()
    saturation_detector: Annotated[
        SaturationDetector | None, Doc("When an endpoint counts as full; the picker has defaults.")
    ] = None


class EPPConfig(ApiType, frozen=True):
    """Where the configuration of an endpoint picker comes from: exactly one of the two members."""

    config_map_ref: Annotated[
        ConfigMapKeySelector | None,
        Doc("Key of a ConfigMap with the configuration. Give either this or `config`, and always a name."),
    ] = None
    config: Annotated[
        dict[str, Any] | None,
        Shaped(EndpointPickerConfig, open=True),
        Doc(
            "The configuration itself, which the operator stores in ConfigMap `<graph>-epp-config`. "
            "Give either this or `configMapRef`."
        ),
    ] = None
