"""What a script says is filled from what it was given; which task is meant; what is not there."""

from __future__ import annotations

import json

import pytest

from backshop.base.errors import ValidationFailed
from backshop.models.errors import BadResponse
from backshop.models.messages import Message, ModelRequest, Purpose, Role, ToolCall
from backshop.models.script.script import Script, item_of, read_script
from backshop.models.script.template import Scene, fill

TABLE = {"columns": ["region", "total"], "rows": [["North", 12345.675], ["South|West", None]]}
PLAN = "<!-- original_count: 2 -->\n# Execution Plan\n\n- [x] 1. First\n- [ ] 2. Second — more"


def asked(*results: object, system: str = "", user: str = "Do it", **extra) -> ModelRequest:
    """A request whose chain has these tool results, framed as the product frames them."""
    messages = [Message(role=Role.SYSTEM, text=system), Message(role=Role.USER, text=user)]
    for number, result in enumerate(results):
        call = ToolCall(f"c{number}", "look", {})
        text = f'<data name="look" id="ab">\n{json.dumps(result)}\n</data id="ab">'
        messages += [
            Message(role=Role.ASSISTANT, tool_calls=(call,)),
            Message(role=Role.TOOL, text=text, tool_call_id=call.id),
        ]
    return ModelRequest(model_id="scripted:x", messages=tuple(messages), **extra)


@pytest.mark.rule("M15.4")
@pytest.mark.parametrize(
    ("template", "filled"),
    [
        ("{{result.rows[0][1] | number 2}}", "12,345.68"),
        ("{{result.rows[0][1] | signed}} euros", "+12,346 euros"),
        ("{{results[0].share | percent 1}}", "12.5 %"),
        ("{{results[0].ok}}", True),
        ("is {{results[0].ok}}", "is yes"),
        ("{{results[0].text | sentence second}}", "The second one."),
        ("{{result.rows | length}}", 2),
        ("{{result.rows}}", TABLE["rows"]),
        ("{{result | grid 1}}", [["region", "total"], ["North", "12,345.7"], ["South|West", ""]]),
        ("{{note.Total revenue}} in all", "19 in all"),
        ("{{items}} and {{ last_user }}", "{{items}} and Do it"),
        ("{{result | table 0}}", "| region | total |\n| --- | --- |\n| North | 12,346 |\n"
         "| South/West |  |"),
    ],
)  # fmt: skip
def test_templates_reach_results_and_lines_of_the_prompt(template, filled):
    first = {"share": 0.125, "ok": True, "text": "One  line.\nThe second\none. Third."}
    scene = Scene(asked(first, TABLE, system="- Total revenue: 17\n\n- Total revenue: 19 "), 1)

    assert fill({"deep": [template]}, scene) == {"deep": [filled]}


@pytest.mark.rule("M15.4")
@pytest.mark.parametrize(
    "template",
    [
        *("{{result.nothing}}", "{{result.rows[7]}}", "{{results[9]}}", "{{result.rows[1][1]}}"),
        *("{{note.Unknown}}", "{{result.rows[0][0] | number}}", "{{result | length | table}}"),
        *("{{result | shout}}", "{{result..rows}}", "{{note.}}", "{{result.rows | sentence x}}"),
    ],
)
def test_what_is_not_there_is_never_made_up(template):
    with pytest.raises(BadResponse) as refused:
        fill(template, Scene(asked(TABLE), 1))

    assert refused.value.reason == "script_unfilled"


def test_text_of_results_is_not_a_template():
    scene = Scene(asked({"text": "{{last_user}} {{result.secret}}"}), 1)

    assert fill("It says: {{result.text}}", scene) == "It says: {{last_user}} {{result.secret}}"


SCRIPT = read_script(
    json.dumps(
        {
            "name": "two",
            "first": [{"when": {"failed": True}, "respond": {"text": "refused"}}],
            "tasks": [
                {
                    "id": "sum",
                    "title": "Sum",
                    "prompt": "Add it up",
                    "match": "add it up",
                    "steps": [
                        {"when": {"turn": 1}, "respond": {"text": "sum one"}},
                        {"when": {"item": 2}, "respond": {"text": "sum item 2"}},
                        {"when": {"prompt": "quietly"}, "respond": {"text": "sum quietly"}},
                    ],
                }
            ],
            "steps": [{"times": 0, "respond": {"text": "anything"}}],
        }
    )
)


def answer(script: Script, request: ModelRequest) -> str | None:
    return next(iter(script.answers(request)))[1].text


@pytest.mark.rule("M15.2", "M15.9")
def test_the_newest_message_of_the_person_chooses_the_task():
    earlier = Message(role=Role.USER, text="Add it up")
    other = asked(user="And now?")
    later = ModelRequest(model_id="scripted:x", messages=(earlier, *other.messages))

    assert answer(SCRIPT, asked(user="## Request\n\nPlease ADD it up!")) == "sum one"
    assert answer(SCRIPT, asked({}, user="add it up", system=PLAN)) == "sum item 2"
    assert answer(SCRIPT, asked({}, user="add it up", system="quietly")) == "sum quietly"
    assert answer(SCRIPT, later) == "anything"


@pytest.mark.rule("M15.2")
def test_a_refused_call_goes_before_the_task():
    request = asked({}, user="add it up")
    failed = Message(role=Role.TOOL, text="{}", tool_call_id="c0", is_error=True)
    refused = ModelRequest(model_id="scripted:x", messages=(*request.messages[:-1], failed))

    assert answer(SCRIPT, refused) == "refused"


@pytest.mark.rule("M15.2")
def test_the_item_is_the_first_one_pending_in_the_plan():
    in_a_file = "- [ ] 7. somebody's own list\n\n"

    assert item_of(asked(system=in_a_file + PLAN)) == 2
    assert item_of(asked(system=in_a_file)) == 7
    assert item_of(asked(system="no plan")) == 0
    assert item_of(asked(system=PLAN, purpose=Purpose.IMPLEMENT)) == 2


@pytest.mark.parametrize("field", ["match", "prompt_regex"])
def test_a_script_with_a_broken_pattern_is_refused(field):
    when = {"prompt": "("} if field == "prompt_regex" else {}
    task = {"id": "a", "title": "A", "prompt": "p", "match": "(" if field == "match" else "p"}
    script = {
        "name": "x",
        "steps": [{"when": when, "respond": {}}],
        "tasks": [task | {"steps": []}],
    }

    with pytest.raises(ValidationFailed) as refused:
        read_script(json.dumps(script))

    assert refused.value.reason == "bad_script"
