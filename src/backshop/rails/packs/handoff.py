"""Packs that hand the result of one workflow to the next."""

from __future__ import annotations

from .shape import (
    CONFIDENCE,
    DATE_TIME,
    POSITIVE,
    UUID,
    VERSION,
    list_of,
    object_of,
    one_of,
    pack,
    text,
)

HANDOFFS = (
    pack(
        "discovery_handoff",
        "A chosen direction",
        {
            "version": VERSION,
            "selectedDirection": text(1),
            "designDocPath": text(),
            "confidenceBand": CONFIDENCE,
            "keyInvariants": list_of(text(high=200), 12),
        },
        {
            "rejectedDirections": list_of(
                object_of({"direction": text(0, 200), "reason": text(0, 300)}), 5
            ),
            "implementationConstraints": list_of(text(high=200), 8),
            "keyCodebaseLocations": list_of(
                object_of({"path": text(0, 300), "relevance": text(0, 150)}), 10
            ),
            "selectionTier": one_of(
                *("strong_recommendation", "provisional_recommendation", "insufficient_signal")
            ),
        },
        example={
            "version": 1,
            "selectedDirection": "Example: one queue per tenant",
            "designDocPath": "docs/example-queues.md",
            "confidenceBand": "medium",
            "keyInvariants": ["Example: no message is delivered twice"],
        },
    ),
    pack(
        "shaping_handoff",
        "A shaped pitch",
        {
            "version": VERSION,
            "pitchPath": text(1),
            "selectedShape": text(1, 200),
            "appetite": text(1, 100),
            "keyConstraints": list_of(text(high=200), 8),
            "rabbitHoles": list_of(text(high=200), 6),
            "outOfScope": list_of(text(high=200), 6),
            "validationChecklist": list_of(text(high=200), 10),
        },
        example={
            "version": 1,
            "pitchPath": "docs/example-pitch.md",
            "selectedShape": "Example: inbox with one list",
            "appetite": "Example: two weeks",
            "keyConstraints": ["Example: no new service"],
            "rabbitHoles": ["Example: search"],
            "outOfScope": ["Example: mobile"],
            "validationChecklist": ["Example: an unread item is found in two clicks"],
        },
    ),
    pack(
        "coding_handoff",
        "What a change did",
        {
            "version": VERSION,
            "keyDecisions": list_of(text(high=200), 8),
            "knownLimitations": list_of(text(high=200), 6),
            "testsAdded": list_of(text(high=200), 10),
            "filesChanged": list_of(text(high=300), 20),
        },
        {
            "branchName": text(),
            "correctedAssumptions": list_of(
                object_of({"assumed": text(0, 200), "actual": text(0, 200)}), 6
            ),
        },
        example={
            "version": 1,
            "keyDecisions": ["Example: parse lazily"],
            "knownLimitations": [],
            "testsAdded": ["tests/test_example.py"],
            "filesChanged": ["src/example.py"],
        },
    ),
    pack(
        "differentiation_handoff",
        "A defensible position",
        {
            "version": VERSION,
            "schemaVersion": {"const": "1.0.0"},
            "generatedAt": DATE_TIME,
            "evidenceFreshness": object_of(
                {"oldestCapturedAt": DATE_TIME, "newestCapturedAt": DATE_TIME}
            ),
            "validationChecklist": list_of(text(high=200), 10),
            "shapingHandoff": object_of(
                {
                    "rawIdea": text(1),
                    "problem": text(1),
                    "baseline": text(1),
                    "appetiteHint": one_of("small_batch", "big_batch"),
                    "noGosHints": list_of(text()),
                    "constraints": object_of(
                        {"teamSize": POSITIVE, "technicalCapabilities": list_of(text(), least=1)},
                        {"exclusions": list_of(text())},
                    ),
                    "evidenceTopK": list_of(UUID, 10),
                    "defensibilityClaim": object_of(
                        {
                            "power": one_of(
                                *("Counter-Positioning", "Switching Costs", "Network Economies"),
                                *("Scale Economies", "Cornered Resource", "Process Power"),
                                *("Branding", "None_Imitable"),
                            ),
                            "cannibalization": text(1),
                        }
                    ),
                }
            ),
        },
        example={
            "version": 1,
            "schemaVersion": "1.0.0",
            "generatedAt": "2026-01-01T00:00:00Z",
            "evidenceFreshness": {
                "oldestCapturedAt": "2025-12-01T00:00:00Z",
                "newestCapturedAt": "2025-12-31T00:00:00Z",
            },
            "validationChecklist": ["Example: three interviews confirm the problem"],
            "shapingHandoff": {
                "rawIdea": "Example: offline first",
                "problem": "Example: field teams lose work",
                "baseline": "Example: paper forms",
                "appetiteHint": "small_batch",
                "noGosHints": ["Example: no accounts"],
                "constraints": {"teamSize": 3, "technicalCapabilities": ["Example: sync"]},
                "evidenceTopK": ["7d9f4c1e-2b43-4e58-9d51-0a6b1c2d3e4f"],
                "defensibilityClaim": {
                    "power": "Counter-Positioning",
                    "cannibalization": "Example: the leader earns from its servers.",
                },
            },
        },
    ),
)
