"""Providers, models and the tool loop. A call leaves the machine only through `egress`."""

from backshop.base.media.image import Image

from .adapter.adapter import AdapterBase
from .adapter.aio import evaluate as evaluate_async
from .adapter.aio import optimize as optimize_async
from .adapter.builder_adapter import BuilderAdapter
from .adapter.offline import ScriptedAdapter, scripted
from .catalog.catalog import (
    AdapterKind,
    Auth,
    Catalog,
    ModelRecord,
    Price,
    ProviderRecord,
    Sampling,
    Supports,
    builtin,
)
from .catalog.profile import Efforts
from .catalog.strict_schema import can_be_strict, check_tools, relaxed, sent_strict, strict
from .commands import COMMANDS, PERMISSION_COMMANDS, PROVIDER_COMMANDS
from .egress.deadline import CallLimits
from .egress.gate import Channel
from .egress.retry import Cancel
from .errors import (
    AuthFailed,
    BadResponse,
    BudgetReached,
    Canceled,
    ConsentRequired,
    ContextExhausted,
    EgressBlocked,
    LoopDetected,
    ModelError,
    NetworkUnavailable,
    ProviderNotConfigured,
    ProviderUnavailable,
    RateLimited,
    RequestRejected,
    SecretsUnreadable,
)
from .ledger.consent import Consent, ConsentMode, Scope, ScopeFile, ScopeText
from .ledger.events import EgressCompleted, EgressSent, ModelCalled
from .ledger.ledger import Scopes, spent_of
from .ledger.usage import text_tokens
from .loop.model_turn import WINDOW_FULL
from .loop.observer import Attendant, Called
from .loop.pulse import CallRunning
from .loop.repetition import LoopGuard, Verdict
from .loop.response import (
    Capabilities,
    OptimizationResult,
    OptimizationScope,
    Phase,
    PromptEvaluationError,
    PromptResponse,
    ProviderAdapter,
)
from .loop.retrying_call import RetryAnnounced
from .loop.tool_call import Checked, Problem, normalise
from .messages import (
    Done,
    Failed,
    FinishReason,
    Message,
    ModelRequest,
    ProviderState,
    Purpose,
    ReasoningProgress,
    ResponseSchema,
    Role,
    Started,
    StreamEvent,
    TextDelta,
    ToolCall,
    ToolCallDelta,
    ToolCallDone,
    ToolCallStarted,
    ToolChoice,
    ToolSpec,
    Usage,
    UsageReported,
)
from .permission import Permissions
from .providers.provider import PRESETS, MemorySettings, Settings
from .providers.registry import Plugin, load_plugins
from .providers.setup import Providers
from .requests import DefaultModel, ModelRequestById
from .script.script import Script, Step, read_script
from .service import ModelAdapter, Models

__all__ = [
    "COMMANDS",
    "PERMISSION_COMMANDS",
    "PRESETS",
    "PROVIDER_COMMANDS",
    "WINDOW_FULL",
    "AdapterBase",
    "AdapterKind",
    "Attendant",
    "Auth",
    "AuthFailed",
    "BadResponse",
    "BudgetReached",
    "BuilderAdapter",
    "CallLimits",
    "CallRunning",
    "Called",
    "Cancel",
    "Canceled",
    "Capabilities",
    "Catalog",
    "Channel",
    "Checked",
    "Consent",
    "ConsentMode",
    "ConsentRequired",
    "ContextExhausted",
    "DefaultModel",
    "Done",
    "Efforts",
    "EgressBlocked",
    "EgressCompleted",
    "EgressSent",
    "Failed",
    "FinishReason",
    "Image",
    "LoopDetected",
    "LoopGuard",
    "MemorySettings",
    "Message",
    "ModelAdapter",
    "ModelCalled",
    "ModelError",
    "ModelRecord",
    "ModelRequest",
    "ModelRequestById",
    "Models",
    "NetworkUnavailable",
    "OptimizationResult",
    "OptimizationScope",
    "Permissions",
    "Phase",
    "Plugin",
    "Price",
    "Problem",
    "PromptEvaluationError",
    "PromptResponse",
    "ProviderAdapter",
    "ProviderNotConfigured",
    "ProviderRecord",
    "ProviderState",
    "ProviderUnavailable",
    "Providers",
    "Purpose",
    "RateLimited",
    "ReasoningProgress",
    "RequestRejected",
    "ResponseSchema",
    "RetryAnnounced",
    "Role",
    "Sampling",
    "Scope",
    "ScopeFile",
    "ScopeText",
    "Scopes",
    "Script",
    "ScriptedAdapter",
    "SecretsUnreadable",
    "Settings",
    "Started",
    "Step",
    "StreamEvent",
    "Supports",
    "TextDelta",
    "ToolCall",
    "ToolCallDelta",
    "ToolCallDone",
    "ToolCallStarted",
    "ToolChoice",
    "ToolSpec",
    "Usage",
    "UsageReported",
    "Verdict",
    "builtin",
    "can_be_strict",
    "check_tools",
    "evaluate_async",
    "load_plugins",
    "normalise",
    "optimize_async",
    "read_script",
    "scripted",
    "spent_of",
    "relaxed",
    "sent_strict",
    "strict",
    "text_tokens",
]
