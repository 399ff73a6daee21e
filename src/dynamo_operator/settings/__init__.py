"""The operator's configuration: one table of settings, the places they come from, and the rules that join them."""

from dynamo_operator.settings.reading import SettingsError, parse_settings
from dynamo_operator.settings.rules import settings_warnings
from dynamo_operator.settings.values import Logging, Settings

__all__ = ["Logging", "Settings", "SettingsError", "parse_settings", "settings_warnings"]
