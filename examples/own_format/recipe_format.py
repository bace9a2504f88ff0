"""Recipes, `.recipe`: a title, then `*` ingredients and numbered steps.

A format is functions of a file and arguments; it runs in a worker with limits on time, memory and
files, and knows nothing of workbenches. Name the module in the entry point group
`backshop.formats` under the ending it is for.
"""

from __future__ import annotations

from backshop.formats import Json, Map, Read, Selector, Source


def get_info(source: Source) -> dict[str, Json]:
    """Return the few facts that are shown beside the name."""
    title, ingredients, steps = _parts(source)
    return {"title": title, "ingredients": len(ingredients), "steps": len(steps)}


def get_map(source: Source) -> Map:
    """Return the structure, so that a model can ask for the part it needs."""
    title, ingredients, steps = _parts(source)
    return Map(
        format="recipe",
        data={
            "title": title,
            "sections": [
                {"section": "ingredients", "lines": len(ingredients)},
                {"section": "steps", "lines": len(steps)},
            ],
        },
    )


def read(source: Source, selector: Selector) -> Read:
    """Return one section, or all."""
    title, ingredients, steps = _parts(source)
    parts = {"ingredients": ingredients, "steps": steps}
    wanted = parts.get(selector.section or "", [title, *ingredients, *steps])
    return Read(format="recipe", text="\n".join(wanted), selector=selector)


def extract_lines(source: Source) -> list[str]:
    """Return the text a review compares."""
    title, ingredients, steps = _parts(source)
    return [title, *ingredients, *steps]


def _parts(source: Source) -> tuple[str, list[str], list[str]]:
    lines = source.path.read_text(encoding="utf-8").splitlines()
    filled = [line.strip() for line in lines if line.strip()]
    title = filled[0] if filled else ""
    ingredients = [line[1:].strip() for line in filled[1:] if line.startswith("*")]
    steps = [line for line in filled[1:] if not line.startswith("*")]
    return title, ingredients, steps
