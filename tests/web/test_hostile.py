"""Hostile or unlucky requests: refused in words, and nothing of them is taken for a defect."""

from __future__ import annotations

import logging
from typing import Any

import anyio
import pytest
from tests.web.browsing import serving
from tests.web.drafts import Drafting, full_draft

from backshop.web import application

MANY = "9" * 5000
PAGE = {"accept": "text/html"}
JSON = {"content-type": "application/json"}


@pytest.fixture(autouse=True)
def no_defect(caplog):
    """Nothing here is an internal error."""
    with caplog.at_level(logging.WARNING):
        yield
    found = [one.getMessage() for one in caplog.records if one.levelno >= logging.ERROR]
    assert found == []


@pytest.mark.rule("U7.3")
@pytest.mark.parametrize("place", ["//evil.example/", "/\\evil.example", "https://evil.example/"])
def test_no_form_leads_to_another_site(served, place):
    with served.client() as client:
        answer = client.post("/settings/appearance", data={"theme": "dark", "next": place})

    assert (answer.status_code, answer.headers["location"]) == (303, "/settings")


@pytest.mark.rule("U7.3", "U3.5")
@pytest.mark.parametrize("name", ["page.txt", "page.html"])
def test_a_file_is_shown_as_text_whatever_it_says(served, name):
    bench = served.bench(files={name: "<script>alert(1)</script>"})
    with served.client() as client:
        page = client.get(f"/bench/{bench}/file/{name}", headers=PAGE)

    assert page.status_code == 200
    assert "<script>alert" not in page.text


@pytest.mark.rule("S7.2")
@pytest.mark.parametrize("origin", ["http://[", "http://[::1", "http://a]b", "\\"])
def test_an_origin_that_is_no_address_is_a_foreign_one(served, origin):
    with served.client(logged_in=False) as client:
        assert client.get("/", headers={"origin": origin}).status_code == 403


@pytest.mark.rule("S5.1", "S7.5")
def test_a_body_nested_without_end_is_no_json_on_any_server(tmp_path):
    deep = b'{"a":' * 100_000 + b"1" + b"}" * 100_000
    with serving(tmp_path / "home", host="0.0.0.0") as served, served.client() as client:
        answers = [
            client.post("/rpc", content=body, headers=JSON).json()["error"]["code"]
            for body in (deep, b"[" * 100_000)
        ]

    assert answers == [-32700, -32700]


@pytest.mark.rule("U4.1", "U4.3")
def test_a_number_in_an_address_may_be_anything(served):
    bench = served.bench("Numbers", {"a.txt": "a\n"})
    Drafting(served, bench).put({"a.txt": "b\n"})
    with served.client() as client:
        answers = [
            client.get(f"/bench/{bench}/{path}&{name}={value}", headers=PAGE).status_code
            for path in ("review?file=a.txt", "review/file?file=a.txt", "file/a.txt?view=draft")
            for name in ("section", "slide", "page", "line")
            for value in (MANY, "-1", "x", "%D9%A3")
        ]

    assert set(answers) == {200}


@pytest.mark.rule("U4.1")
def test_a_section_a_slide_and_a_page_of_a_review_may_be_anything(served):
    bench = full_draft(served).id
    with served.client() as client:
        answers = {
            f"{name} {at} {value[:5]}": client.get(
                f"/bench/{bench}/review/file?file={name}&{at}={value}", headers=PAGE
            ).status_code
            for name, at in (("report.docx", "section"), ("deck.pptx", "slide"))
            for value in (MANY, "x", "0")
        }

    assert set(answers.values()) == {200}, answers


@pytest.mark.rule("U1.6", "B6.17")
def test_a_form_that_cannot_be_read_is_said_to_be_one(served):
    bench = served.bench("Forms")
    broken = {"content-type": "multipart/form-data; boundary=x", "origin": served.address}
    many = [("files", (f"{number}.txt", b"x")) for number in range(5_001)]
    with served.client() as client:
        answers = [
            client.post(f"/bench/{bench}/files", content=b"nonsense", headers=broken),
            client.post(f"/bench/{bench}/turn", content=b"nonsense", headers=broken),
            client.post(f"/bench/{bench}/files", files=many, headers={"origin": served.address}),
        ]

    assert [one.status_code for one in answers] == [400, 400, 400]
    assert {one.json()["error"]["error_code"] for one in answers} == {"VALIDATION_FAILED"}


@pytest.mark.rule("U1.6", "B6.17")
@pytest.mark.parametrize("path", ["/bench/{}/files", "/bench/{}/turn", "/rpc", "/markdown"])
def test_a_client_that_leaves_in_the_middle_is_no_defect(served, path):
    bench = served.bench("Leaving")
    with served.client() as client:
        cookie = f"{served.door.cookie}={client.cookies[served.door.cookie]}"
    kind = "multipart/form-data; boundary=x" if "bench" in path else "application/json"
    headers = {
        "host": f"127.0.0.1:{served.door.port}",
        "cookie": cookie,
        "content-type": kind,
    }
    news: list[dict[str, Any]] = [
        {"type": "http.request", "body": b"--x\r\n", "more_body": True},
        {"type": "http.disconnect"},
    ]
    scope = {
        "type": "http",
        "method": "POST",
        "path": path.format(bench),
        "query_string": b"",
        "headers": [(name.encode(), value.encode()) for name, value in headers.items()],
    }
    sent: list[dict[str, Any]] = []

    async def receive():
        return news.pop(0)

    async def send(message):
        sent.append(message)

    app = application(served.shop, served.door, served.login)
    anyio.run(app, scope, receive, send)

    assert (news, sent[0]["status"]) == ([], 400)
