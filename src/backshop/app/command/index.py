"""Every command of the product; those of a room load when one of them is first asked for (S2.4)."""

from __future__ import annotations

from typing import Any

from backshop.store import COMMANDS as STORE_COMMANDS

from ..operation.engine import COMMANDS as ENGINE_COMMANDS
from ..operation.engine import Engine
from ..people.people import COMMANDS as PEOPLE_COMMANDS
from ..wiring.formats import forgetting
from .registry import Offer, Registry

Rooms = Any  # `Backshop`, which wires these commands too and so is not named here
# What names of commands and modules begin with, room by room; a wrong entry costs time only.
_BENCH = ("Workbench", "Draft", "Review", "Checkpoint", "Context", "Published", "Audit", "Settings")
_RAILS = ("Rails", "start_", "continue_", "resume_", "inspect_", "list_", "checkpoint_")
_OF_BENCH = ("WorkbenchGetClutter", "WorkbenchGetDefaultModel", "WorkbenchSetDefaultModel")
_WORKSHOP = ("Workshop", *_OF_BENCH, "ContextProcess", "Digest", "PromptShow")
_MODELS = ("Models", "Providers", "Egress", "Usage", "UserGet", "UserSet")


def offered(shop: Rooms) -> Registry:
    """Return the commands of a home, run by its rooms."""

    def bench() -> list[Offer]:
        from backshop.bench import (
            CHOICE_COMMANDS,
            COMMANDS,
            COMMENT_COMMANDS,
            DIFF_COMMANDS,
            VIEW_COMMANDS,
        )

        benches = shop.benches
        return [
            (COMMANDS, benches),
            (DIFF_COMMANDS, benches.differ),
            (VIEW_COMMANDS, benches.viewer),
            (COMMENT_COMMANDS, benches.discussion),
            (CHOICE_COMMANDS, benches.selections),
        ]

    def rails() -> list[Offer]:
        from backshop.rails import COMMANDS, DEFINITION_COMMANDS, STUDIO_COMMANDS, Studio

        return [
            (COMMANDS, shop.rails),
            (STUDIO_COMMANDS, Studio(shop.rails)),
            (DEFINITION_COMMANDS, shop.definitions),
        ]

    def prompts() -> list[Offer]:
        from backshop.prompts import COMMANDS

        return [(COMMANDS, shop.prompts)]

    def models() -> list[Offer]:
        from backshop.models import COMMANDS, PERMISSION_COMMANDS, PROVIDER_COMMANDS

        return [
            (COMMANDS, shop.models),
            (PERMISSION_COMMANDS, shop.models.permissions),
            (PROVIDER_COMMANDS, shop.models.providers),
        ]

    registry = Registry(shop.gate)
    registry.add(PEOPLE_COMMANDS, shop.people)
    registry.add(forgetting(STORE_COMMANDS, shop.config.home / "cache"), shop.store)
    registry.add(ENGINE_COMMANDS, Engine(shop.config, registry.errors))
    registry.offer(("backshop.bench.", *_BENCH), bench)
    registry.offer(("backshop.rails.", *_RAILS), rails)
    registry.offer(("backshop.prompts.", "Prompt"), prompts)
    registry.offer(("backshop.models.", *_MODELS), models)
    registry.offer(("backshop.workshop.", *_WORKSHOP), lambda: _of_workshop(shop))
    return registry


def _of_workshop(shop: Rooms) -> list[Offer]:
    from backshop.workshop import (
        AGAIN_COMMANDS,
        CLUTTER_COMMANDS,
        COMMANDS,
        CONTEXT_COMMANDS,
        DIGEST_COMMANDS,
        Again,
        Cluttering,
    )

    again = Again(shop.workshops.book, shop.rails, lambda: shop.definitions)

    return [
        (COMMANDS, shop.workshops),
        (CLUTTER_COMMANDS, Cluttering(shop.workshops.book, shop.models, shop.gatherer)),
        (CONTEXT_COMMANDS, shop.contextual),
        (DIGEST_COMMANDS, shop.digests),
        (AGAIN_COMMANDS, again),
    ]
