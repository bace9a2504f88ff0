"""Providers, models and the tool loop. A call leaves the machine only through `egress`."""

from .adapter import AdapterBase
from .aio import evaluate as evaluate_async
from .aio import optimize as optimize_async
from .asking import RetryAnnounced
from .attendant import Attendant, Called
from .building import BuilderAdapter
from .calls import Checked, Problem, normalise
from .catalog import (
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
from .commands import COMMANDS
from .consent import Consent, ConsentMode, Scope, ScopeFile, ScopeText
from .egress import Channel
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
from .forgive import forgiven
from .ledger import Scopes, spent_of
from .loopguard import LoopGuard, Verdict
from .messages import (
    Done,
    Failed,
    FinishReason,
    Image,
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
from .offline import ScriptedAdapter, scripted
from .profile import Efforts
from .providers import MemorySettings, Settings
from .registry import Plugin, load_plugins
from .requests import DefaultModel, ModelRequestById
from .response import (
    Capabilities,
    OptimizationResult,
    OptimizationScope,
    Phase,
    PromptEvaluationError,
    PromptResponse,
    ProviderAdapter,
)
from .retry import Cancel
from .script import Script, Step, read_script
from .service import ModelAdapter, Models
from .strict import can_be_strict, check_tools, strict
from .usage import text_tokens

__all__ = [
    "COMMANDS",
    "AdapterBase",
    "AdapterKind",
    "Attendant",
    "Auth",
    "AuthFailed",
    "BadResponse",
    "BudgetReached",
    "BuilderAdapter",
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
    "Failed",
    "FinishReason",
    "Image",
    "LoopDetected",
    "LoopGuard",
    "MemorySettings",
    "Message",
    "ModelAdapter",
    "ModelError",
    "ModelRecord",
    "ModelRequest",
    "ModelRequestById",
    "Models",
    "NetworkUnavailable",
    "OptimizationResult",
    "OptimizationScope",
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
    "forgiven",
    "load_plugins",
    "normalise",
    "optimize_async",
    "read_script",
    "scripted",
    "spent_of",
    "strict",
    "text_tokens",
]
