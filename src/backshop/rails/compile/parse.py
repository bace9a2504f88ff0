"""From the bytes of a definition file to parsed JSON, or a finding that says where (R1.1)."""

from __future__ import annotations

from backshop.base import yaml
from backshop.base.canon import canonical, parse
from backshop.base.errors import ValidationFailed
from backshop.rails.definition.finding import Findings

SOURCE_MAX_BYTES = 1024 * 1024
SUFFIXES = (".json", ".yaml", ".yml")


def parse_source(data: bytes, findings: Findings, *, is_yaml: bool = False) -> object:
    """Return the value a file holds; None, with a finding, when it cannot be read."""
    if len(data) > SOURCE_MAX_BYTES:
        message = f"{len(data)} bytes; a definition has at most {SOURCE_MAX_BYTES}"
        findings.error("WF_PARSE", "", message)
        return None
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        findings.error("WF_PARSE", "", f"not UTF-8 at byte {error.start}")
        return None
    try:
        value = yaml.read(text) if is_yaml else parse(text)
        canonical(value)  # refuses lone surrogates and what nests too deeply
    except yaml.BadYaml as error:
        findings.error("WF_PARSE", "", f"not YAML: {error}")
        return None
    except ValidationFailed as error:
        findings.error("WF_PARSE", "", error.message)
        return None
    return value
