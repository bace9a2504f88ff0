"""From an authored definition to a compiled, hashable workflow (R2)."""

from backshop.rails.definition.workflow import (
    Assessment,
    Confirmation,
    ConfirmationKind,
    Consequence,
    ContractUse,
    Delegation,
    Dimension,
    FeatureUse,
    Fragment,
    LoopType,
    Origin,
    Provenance,
    Recommended,
    Reference,
    StepKind,
    UserInput,
)

from .compiler import Outcome, compile_data, compile_source
from .expand import Library, template_id
from .model import SCHEMA_VERSION, Compiled, CompiledStep, Contract, Function, Loop, LoopControl
from .pin import load, snapshot, workflow_hash

__all__ = [
    "SCHEMA_VERSION",
    "Assessment",
    "Compiled",
    "CompiledStep",
    "Confirmation",
    "ConfirmationKind",
    "Consequence",
    "Contract",
    "ContractUse",
    "Delegation",
    "Dimension",
    "FeatureUse",
    "Fragment",
    "Function",
    "Library",
    "Loop",
    "LoopControl",
    "LoopType",
    "Origin",
    "Outcome",
    "Provenance",
    "Recommended",
    "Reference",
    "StepKind",
    "UserInput",
    "compile_data",
    "compile_source",
    "load",
    "snapshot",
    "template_id",
    "workflow_hash",
]
