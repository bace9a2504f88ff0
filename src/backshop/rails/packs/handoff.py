"""Packs that hand the result of one workflow to the next."""

from __future__ import annotations

from . import shape

HANDOFFS = (
    shape.pack(
        "discovery_handoff",
        "A chosen direction",
        {
            "version": shape.VERSION,
            "selectedDirection": shape.text(1),
            "designDocPath": shape.text(),
            "confidenceBand": shape.CONFIDENCE,
            "keyInvariants": shape.list_of(shape.text(high=200), 12),
        },
        {
            "rejectedDirections": shape.list_of(
                shape.object_of({"direction": shape.text(0, 200), "reason": shape.text(0, 300)}), 5
            ),
            "implementationConstraints": shape.list_of(shape.text(high=200), 8),
            "keyCodebaseLocations": shape.list_of(
                shape.object_of({"path": shape.text(0, 300), "relevance": shape.text(0, 150)}), 10
            ),
            "selectionTier": shape.one_of(
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
    shape.pack(
        "shaping_handoff",
        "A shaped pitch",
        {
            "version": shape.VERSION,
            "pitchPath": shape.text(1),
            "selectedShape": shape.text(1, 200),
            "appetite": shape.text(1, 100),
            "keyConstraints": shape.list_of(shape.text(high=200), 8),
            "rabbitHoles": shape.list_of(shape.text(high=200), 6),
            "outOfScope": shape.list_of(shape.text(high=200), 6),
            "validationChecklist": shape.list_of(shape.text(high=200), 10),
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
    shape.pack(
        "coding_handoff",
        "What a change did",
        {
            "version": shape.VERSION,
            "keyDecisions": shape.list_of(shape.text(high=200), 8),
            "knownLimitations": shape.list_of(shape.text(high=200), 6),
            "testsAdded": shape.list_of(shape.text(high=200), 10),
            "filesChanged": shape.list_of(shape.text(high=300), 20),
        },
        {
            "branchName": shape.text(),
            "correctedAssumptions": shape.list_of(
                shape.object_of({"assumed": shape.text(0, 200), "actual": shape.text(0, 200)}), 6
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
    shape.pack(
        "differentiation_handoff",
        "A defensible position",
        {
            "version": shape.VERSION,
            "schemaVersion": {"const": "1.0.0"},
            "generatedAt": shape.DATE_TIME,
            "evidenceFreshness": shape.object_of(
                {"oldestCapturedAt": shape.DATE_TIME, "newestCapturedAt": shape.DATE_TIME}
            ),
            "validationChecklist": shape.list_of(shape.text(high=200), 10),
            "shapingHandoff": shape.object_of(
                {
                    "rawIdea": shape.text(1),
                    "problem": shape.text(1),
                    "baseline": shape.text(1),
                    "appetiteHint": shape.one_of("small_batch", "big_batch"),
                    "noGosHints": shape.list_of(shape.text()),
                    "constraints": shape.object_of(
                        {
                            "teamSize": shape.POSITIVE,
                            "technicalCapabilities": shape.list_of(shape.text(), least=1),
                        },
                        {"exclusions": shape.list_of(shape.text())},
                    ),
                    "evidenceTopK": shape.list_of(shape.UUID, 10),
                    "defensibilityClaim": shape.object_of(
                        {
                            "power": shape.one_of(
                                *("Counter-Positioning", "Switching Costs", "Network Economies"),
                                *("Scale Economies", "Cornered Resource", "Process Power"),
                                *("Branding", "None_Imitable"),
                            ),
                            "cannibalization": shape.text(1),
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
