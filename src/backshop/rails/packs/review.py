"""Packs of reviews: verdicts, gates, changed files, findings."""

from __future__ import annotations

from .shape import CONFIDENCE, POSITIVE, VERSION, list_of, object_of, one_of, pack, text

REVIEWS = (
    pack(
        "review_verdict",
        "The outcome of a review",
        {
            "verdict": one_of("clean", "minor", "blocking"),
            "confidence": CONFIDENCE,
            "findings": list_of(
                object_of(
                    {
                        "severity": one_of("critical", "major", "minor", "nit"),
                        "summary": text(1),
                    },
                    {
                        "findingCategory": one_of(
                            *("correctness", "security", "architecture", "ux"),
                            *("performance", "testing", "style"),
                        )
                    },
                )
            ),
            "summary": text(1),
        },
        example={
            "verdict": "minor",
            "confidence": "high",
            "findings": [
                {"severity": "minor", "summary": "Example: the empty list is not tested."}
            ],
            "summary": "Example: sound; one test is missing.",
        },
    ),
    pack(
        "gate_verdict",
        "Whether work passes a gate",
        {
            "version": VERSION,
            "verdict": one_of("approved", "rejected", "uncertain"),
            "confidence": CONFIDENCE,
            "rationale": text(20),
        },
        example={
            "version": 1,
            "verdict": "approved",
            "confidence": "high",
            "rationale": "Example: section 2 names the owner and the date that were asked for.",
        },
    ),
    pack(
        "changed_files",
        "The files a change touches",
        {
            "changedFiles": list_of(
                object_of({"path": text(1), "summary": text(), "risk": one_of("L", "M", "H")})
            )
        },
        kind="mr_review.changed_files",
        example={
            "changedFiles": [
                {"path": "src/example.py", "summary": "Example: new parser", "risk": "M"}
            ]
        },
        renderer="table",
    ),
    pack(
        "findings",
        "Findings of a review, ready to comment",
        {
            "findings": list_of(
                object_of(
                    {
                        "severity": one_of("Critical", "Major", "Minor", "Nit"),
                        "location": object_of({"file": text(1)}, {"line": POSITIVE}),
                        "title": text(1),
                        "rationale": text(),
                    },
                    {"suggestion": text()},
                )
            )
        },
        {
            "mrComments": list_of(
                object_of(
                    {
                        "location": object_of({"file": text(1)}, {"line": POSITIVE}),
                        "title": text(1),
                        "body": text(),
                    }
                )
            )
        },
        kind="mr_review.findings",
        example={
            "findings": [
                {
                    "severity": "Minor",
                    "location": {"file": "src/example.py", "line": 12},
                    "title": "Example: empty input",
                    "rationale": "Example: parse('') raises IndexError.",
                }
            ]
        },
        renderer="findings",
    ),
    pack(
        "working_agreement_patch",
        "What the person asked to be done differently from now on",
        {
            "changes": list_of(
                object_of(
                    {"topic": text(1), "statement": text(1), "source": {"const": "user_quote"}}
                ),
                least=1,
            )
        },
        kind="working_agreement_patch",
        example={
            "changes": [
                {
                    "topic": "Example: tests",
                    "statement": "Example: run them before asking.",
                    "source": "user_quote",
                }
            ]
        },
    ),
)
