"""How many tokens calls to models took, and what they came to."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class TokenUsage:
    """Tokens of one call or a sum of calls; input includes cached input (M13.1)."""

    input_tokens: int = 0
    cached_input_tokens: int = 0
    cache_write_tokens: int = 0
    output_tokens: int = 0
    reasoning_tokens: int = 0
    estimated: bool = False

    def __add__(self, other: TokenUsage) -> TokenUsage:
        return TokenUsage(
            self.input_tokens + other.input_tokens,
            self.cached_input_tokens + other.cached_input_tokens,
            self.cache_write_tokens + other.cache_write_tokens,
            self.output_tokens + other.output_tokens,
            self.reasoning_tokens + other.reasoning_tokens,
            self.estimated or other.estimated,
        )

    @property
    def total_tokens(self) -> int:
        """Input and output together."""
        return self.input_tokens + self.output_tokens


NOTHING_USED = TokenUsage()
UNKNOWN_PERSON = "unknown"
"""Who asked for a call, where the log does not say."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Used:
    """What some calls to models came to (M13.2)."""

    calls: int = 0
    usage: TokenUsage = field(default_factory=TokenUsage)
    usd_estimate: float | None = None
    """What the calls whose model has a price cost, in US dollars."""
    priced_calls: int = 0
    """How many that are."""
    estimated_calls: int = 0
    """Calls whose provider told no tokens: counted by us."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelUsage(Used):
    """What one model used."""

    model_id: str


def with_call(used: Used, usage: TokenUsage, usd: float | None) -> Used:
    """Return the sum after one more call; one without a price leaves the money as it is."""
    return Used(
        calls=used.calls + 1,
        usage=used.usage + usage,
        usd_estimate=used.usd_estimate if usd is None else (used.usd_estimate or 0.0) + usd,
        priced_calls=used.priced_calls + (usd is not None),
        estimated_calls=used.estimated_calls + usage.estimated,
    )


def together(*sums: Used) -> Used:
    """Return what several sums come to."""
    prices = [one.usd_estimate for one in sums if one.usd_estimate is not None]
    return Used(
        calls=sum(one.calls for one in sums),
        usage=sum((one.usage for one in sums), NOTHING_USED),
        usd_estimate=sum(prices) if prices else None,
        priced_calls=sum(one.priced_calls for one in sums),
        estimated_calls=sum(one.estimated_calls for one in sums),
    )


def used_line(used: Used) -> str:
    """Return a sum in one line for people (M13.4)."""
    tokens = used.usage
    cached = f" ({tokens.cached_input_tokens:,} cached)" if tokens.cached_input_tokens else ""
    parts = [
        f"{used.calls:,} {'call' if used.calls == 1 else 'calls'}",
        f"{tokens.input_tokens:,} tokens in{cached}",
        f"{tokens.output_tokens:,} out",
        *filter(None, (money(used), doubt(used))),
    ]
    return " · ".join(parts)


def money(used: Used) -> str:
    """Return what is known of the price, nothing where no call has one."""
    if used.usd_estimate is None:
        return ""
    is_small = 0 < used.usd_estimate < 0.01
    price = "less than $0.01" if is_small else f"${used.usd_estimate:,.2f}"
    if used.priced_calls == used.calls:
        return price
    return f"{price} for {used.priced_calls:,} of {used.calls:,} calls"


def doubt(used: Used) -> str:
    """Return the word for tokens that no provider told."""
    if not used.estimated_calls:
        return ""
    return "estimated" if used.estimated_calls == used.calls else "partly estimated"
