"""People who share a home: every command with every role, through the registry (T6.4, T6.5)."""

from __future__ import annotations

import json
import threading
from concurrent.futures import Future
from typing import Any

import pytest
from tests.rails.workflows import LOOP_CONTROL, flow, step

from backshop.app import Backshop
from backshop.base.codec import schema
from backshop.base.errors import (
    AccessDenied,
    BackshopError,
    LimitExceeded,
    NotFound,
    ValidationFailed,
)
from backshop.testing.ambient import FixedClock

SLOW = [{"when": {}, "times": 0, "respond": {"text": "…", "delay_ms": 60_000}}]
ROLES = ("none", "read", "write", "publish")
# The least role that is let in, command by command, said here once more and on purpose: a command
# that slips from one to another is found. "owner": whoever owns the home, and no role is enough.
LEAST = {
    "anybody": """
        EngineGetInfo ModelsGetCapabilities ModelsListSupported PromptsGet PromptsLint PromptsList
        PromptsRender ProvidersGetStatus RailsBuiltinsList RailsRunsList
        RailsSessionImport RailsSessionsList
        RailsWaitingList
        RailsWorkflowSource RailsWorkflowValidate UserGetConsentMode UserGetDefaultModel
        WorkbenchCreate WorkbenchCreateSample WorkbenchList WorkshopListUsage WorkshopSearch
        inspect_workflow
        list_workflows
        resume_session start_session start_workflow""",
    "read": """
        AccessList AuditExport AuditList CheckpointCompare CheckpointGet CheckpointGetDiff
        CheckpointsList ContextGet ContextGetArtifact ContextList DigestGet DraftCompareRevisions
        DraftGetRevisionDiff DraftGetState
        EgressGetConsentStatus EgressListEvents EngineGetLastError PromptShow RailsNodeGet
        RailsRunGet RailsSessionExport RailsSessionGet ReviewGetChangeSet
        ReviewGetDeletionConfirmations ReviewGetDiff ReviewGetDocxContentDiff
        ReviewGetDrawnDocument ReviewGetPptxDrawnSlide WorkbenchFileGetDrawnDocument
        WorkbenchFileGetDrawnSlide ReviewGetDocxPreviewPage ReviewGetEntry
        ReviewGetImagePreview ReviewGetOdtPreviewPage
        ReviewGetOfficeTextDiff ReviewGetPdfPreviewPage ReviewGetPptxContentDiff
        ReviewGetPptxPreviewSlide ReviewGetSummary ReviewGetTableDiff ReviewGetTextDiff
        ReviewGetXlsxCellDiff ReviewGetXlsxDrawnSheet ReviewGetXlsxPreviewGrid
        ReviewGetXlsxPreviewPage UsageGet WorkbenchFileGetDrawnSheet WorkbenchFileGetGrid
        WorkbenchFileGetInfo WorkbenchFileGetMap WorkbenchFileGetPage WorkbenchFileGetSection
        WorkbenchFileGetSlide WorkbenchFileRead WorkbenchFilesList WorkbenchFork
        FolderGetState
        WorkbenchGetClutter WorkbenchGetDefaultModel WorkbenchGetScope WorkbenchGetSize
        WorkbenchOpen
        WorkbenchTableDescribe WorkbenchTableQuery WorkbenchTableReadRows WorkbenchTableStats
        WorkshopGetConversation WorkshopGetMetrics WorkshopGetPlan WorkshopGetProposal
        WorkshopGetState WorkshopGetToolLog WorkshopGetToolLogEntry WorkshopGetRunUsage
        WorkshopGetUsage
        WorkshopGetWorkflowInputs ReviewListChanges ReviewListComments""",
    "write": """
        CheckpointCreate CheckpointPin ContextDelete ContextProcess ContextUpdateDirect DigestClear
        DigestRefresh DigestSet DraftBringBack DraftCreate DraftDeletePath DraftDiscard DraftFolder
        DraftRenamePath
        DraftRescan DraftRestoreRevision DraftRevertPath DraftUndo RailsGapResolve RailsRunBranch
        RailsRunFork
        RailsRunSetContext RailsRunSetPreferences RailsUserInputRecord
        ReviewSetDeletionConfirmations WorkbenchSetDefaultModel WorkshopApplyProposal
        WorkshopAddNote WorkshopCancelRun WorkshopDismissProposal
        WorkshopDismissReminder WorkshopProposeChanges WorkshopRedo WorkshopRegenerate
        WorkshopRequestChanges DraftLeaveChanges DraftTakeChanges ReviewAddComment
        ReviewAnswerComment ReviewResolveComment ReviewWithdrawComment
        WorkshopRunAgent WorkshopSendUserMessage WorkshopSetFlow WorkshopStreamAssistantReply
        WorkshopSwitchModel WorkshopUndoToMessage checkpoint_workflow continue_workflow""",
    "publish": """
        AccessSet CheckpointRestore DraftPublish EgressGrantWorkshopConsent EgressRevokeConsent
        FolderSettle FolderTake FolderWriteBack
        PublishedReconcile PublishedRepair RailsSessionDelete RailsSessionSetKeep WorkbenchDelete
        WorkbenchFileRename WorkbenchFilesAdd WorkbenchFilesRemove WorkbenchRename
        WorkbenchSetLimits WorkbenchUndelete""",
    "owner": """
        FolderFollow WorkbenchOpenFolder
        PromptOverridesDelete PromptOverridesDoctor PromptOverridesExport PromptOverridesGet
        PromptOverridesImport PromptOverridesList PromptOverridesRebase PromptOverridesSeed
        PromptOverridesSet PromptOverridesUnset ProvidersClearApiKey ProvidersMoveKeys
        ProvidersFindLocal ProvidersProbe ProvidersRemove ProvidersSetApiKey ProvidersSetEnabled
        ProvidersSetReasoningEffort ProvidersUpsertLocal ProvidersValidate RailsKeysRotate
        RailsSessionsExpire RailsSourcesSync RailsWorkflowCopy RailsWorkflowDelete
        RailsWorkflowNew RailsWorkflowPinned RailsWorkflowSave SettingsGet SettingsSet
        SettingsSetOnboarding StoreBackup StoreDoctor StoreGc UserAdd UserInvite UserInviteList
        UserInviteWithdraw UserList UserLogout
        UserRemove UserSetConsentMode UserSetDefaultModel WorkbenchBindOriginals
        WorkbenchFilesExtract WorkbenchWriteBack
        WorkshopSaveWorkflow""",
}
LET_IN = {"anybody": ROLES, "owner": (), **{role: ROLES[n:] for n, role in enumerate(ROLES) if n}}
GOING = ("WorkbenchDelete", "RailsSessionDelete")  # what the other commands are about ends there
GAP = flow(step("one", **LOOP_CONTROL))
NONSTOP = {"preferences": {"autonomy": "full_auto_never_stop"}}


class Team:
    """A home with one bench and one session of the owner's, and a person."""

    def __init__(self, shop: Backshop) -> None:
        self.shop = shop
        made = shop.call("UserAdd", {"name": "Ada"})
        self.ada, self.token = made["user_id"], made["token"]
        self.bench = shop.call("WorkbenchCreate", {"name": "Ours"})["workbench_id"]
        self.started = shop.call("start_workflow", {"workflowId": "wr.rpi", "goal": "x"})
        rows = shop.call("RailsSessionsList", {})["sessions"]
        self.session = rows[0]["sessionId"]
        page = shop.call("RailsSessionGet", {"sessionId": self.session})
        self.run = page["runList"][0]["runId"]
        self.node = shop.call("RailsRunGet", {"runId": self.run})["nodes"][0]["nodeId"]
        self.gap = "gap_none"
        self._sessions = [self.session]

    def leave_gap(self) -> None:
        """Add a session of the owner's whose run ended with a gap."""
        begun = self.shop.call("start_workflow", {"workflowId": "user.flow", **NONSTOP})
        tokens = {name: begun[name] for name in ("stateToken", "ackToken")}
        done = self.shop.call("continue_workflow", tokens)
        self.gap = done["gaps"][0]["gapId"]
        self._sessions.append(done["session"]["sessionId"])

    def give(self, role: str) -> None:
        """Give Ada a role on everything the requests are about."""
        subjects = [("workbench_id", self.bench), *(("session_id", s) for s in self._sessions)]
        for name, subject in subjects:
            self.shop.call("AccessSet", {name: subject, "user_id": self.ada, "role": role})

    def try_as_ada(self, name: str) -> str:
        """Return how a call ends: 'denied', or 'in' whatever the command itself says."""
        request = self.sample(schema(self.shop.commands.find(name).command.request))
        try:
            self.shop.call(name, request, user=self.ada)
        except AccessDenied as error:
            assert error.reason in ("role", "owner_only", "paths"), error
            return "denied"
        except BackshopError:
            return "in"
        return "in"

    def sample(self, kind: dict[str, Any]) -> dict[str, Any]:
        """Return a request that decodes, about our bench, session, run and node."""
        known = {
            "workbench_id": self.bench,
            "sessionId": self.session,
            "session_id": self.session,
            "runId": self.run,
            "run_id": self.run,
            "nodeId": self.node,
            "gapId": self.gap,
            "stateToken": self.started["stateToken"],
            "checkpointToken": self.started["checkpointToken"],
            "role": "read",
            "workflowHash": f"sha256:{'0' * 64}",
        }
        properties = kind.get("properties", {})
        wanted = set(kind.get("required", ()))
        wanted |= {"stateToken"} & set(properties)
        if "workbench_id" in properties:
            wanted.add("workbench_id")
        if "confirm" in wanted:
            known["confirm"] = self.bench if "workbench_id" in properties else self.session
        defs = kind.get("$defs", {})
        return {name: known.get(name, _value(properties[name], defs)) for name in sorted(wanted)}


def _value(kind: dict[str, Any], defs: dict[str, Any]) -> Any:
    if "$ref" in kind:
        return _value(defs[kind["$ref"].rpartition("/")[2]], defs)
    if "enum" in kind:
        return kind["enum"][0]
    if "const" in kind:
        return kind["const"]
    if "anyOf" in kind:
        return _value(kind["anyOf"][0], defs)
    if kind.get("type") == "object":
        properties = kind.get("properties", {})
        return {name: _value(properties[name], defs) for name in kind.get("required", ())}
    return {"string": "x", "integer": 1, "number": 1, "boolean": True, "array": []}[kind["type"]]


@pytest.fixture
def team(tmp_path):
    folder = tmp_path / "home" / "workflows"
    folder.mkdir(parents=True)
    (folder / "user.flow.json").write_text(json.dumps(GAP))
    with Backshop.open(tmp_path / "home", settings={"team.requests_per_minute": 0}) as shop:
        yield Team(shop)


@pytest.mark.rule("T6.4")
@pytest.mark.parametrize("role", ROLES)
def test_every_command_with_every_role(team, role):
    team.leave_gap()
    least = {name: one for one, names in LEAST.items() for name in names.split()}
    names = [bound.command.name for bound in team.shop.commands if bound.command.name not in GOING]
    assert {*names, *GOING} == set(least)  # a new command has to say here whom it is for
    held = {}
    for name in names:
        team.give(role)
        held[name] = team.try_as_ada(name)

    wanted = {name: "in" if role in LET_IN[least[name]] else "denied" for name in names}
    assert held == wanted


@pytest.mark.rule("T6.4")
@pytest.mark.parametrize("role", ROLES)
def test_only_who_may_publish_deletes(team, role):
    for name in GOING:
        team.give(role)

        assert team.try_as_ada(name) == ("in" if role == "publish" else "denied")

    left = team.shop.call("WorkbenchList", {})["workbenches"]
    sessions = team.shop.call("RailsSessionsList", {})["sessions"]
    assert (len(left), len(sessions)) == ((0, 0) if role == "publish" else (1, 1))


@pytest.mark.rule("T6.4")
def test_people_see_what_is_theirs_and_own_what_they_make(team):
    shop = team.shop
    mine = shop.call("WorkbenchCreate", {"name": "Mine"}, user=team.ada)["workbench_id"]
    seen = shop.call("WorkbenchList", {}, user=team.ada)["workbenches"]
    assert [one["workbench_id"] for one in seen] == [mine]
    assert len(shop.call("WorkbenchList", {})["workbenches"]) == 2

    assert shop.call("RailsSessionsList", {}, user=team.ada)["sessions"] == []
    assert shop.call("resume_session", {}, user=team.ada)["candidates"] == []
    begun = shop.call("start_workflow", {"workflowId": "wr.rpi", "goal": "y"}, user=team.ada)
    assert len(shop.call("RailsSessionsList", {}, user=team.ada)["sessions"]) == 1
    shop.call("continue_workflow", {"stateToken": begun["stateToken"]}, user=team.ada)

    with pytest.raises(AccessDenied):
        shop.call("continue_workflow", {"stateToken": team.started["stateToken"]}, user=team.ada)
    access = shop.call("AccessList", {"workbench_id": mine}, user=team.ada)["access"]
    assert access[0]["owner"]
    assert access[0]["name"] == "Ada"


@pytest.mark.rule("T6.4", "B18.1")
def test_nobody_gets_into_the_sample_of_another(team):
    shop = team.shop
    ours = shop.call("WorkbenchCreateSample", {})["workbench_id"]

    with pytest.raises(AccessDenied):
        shop.call("WorkbenchCreateSample", {"reuse": True}, user=team.ada)
    own = shop.call("WorkbenchCreateSample", {}, user=team.ada)

    assert own["workbench_id"] != ours
    with pytest.raises(AccessDenied):
        shop.call("WorkbenchOpen", {"workbench_id": ours}, user=team.ada)


@pytest.mark.rule("T6.4")
def test_a_removed_person_is_out_at_once_and_their_token_with_them(team):
    shop = team.shop
    team.give("publish")
    assert shop.people.who(team.token) == team.ada
    shop.call("UserRemove", {"user_id": team.ada})

    assert shop.people.who(team.token) is None
    with pytest.raises(AccessDenied) as refused:
        shop.call("WorkbenchOpen", {"workbench_id": team.bench}, user=team.ada)
    assert refused.value.reason == "user_removed"
    assert shop.call("AccessList", {})["access"] == []
    with pytest.raises(NotFound):
        shop.call("UserRemove", {"user_id": team.ada})


@pytest.mark.rule("T6.4")
def test_tokens_are_not_kept_and_forgeries_are_nobody(team):
    home = team.shop.config.home
    secret = team.token.encode()
    assert all(secret not in path.read_bytes() for path in home.rglob("*") if path.is_file())
    for forged in ("", "bsu_", team.token[:-1], team.token + "A", team.token.swapcase(), "x" * 50):
        assert team.shop.people.who(forged) is None


@pytest.mark.rule("T6.5")
def test_people_are_let_in_up_to_their_limit(tmp_path, monkeypatch):
    monkeypatch.setattr("backshop.app.people.people.USERS_MAX", 2)
    with Backshop.open(tmp_path / "home") as shop:
        made = [shop.call("UserAdd", {"name": name})["user_id"] for name in ("Ada", "Ben")]

        with pytest.raises(ValidationFailed) as refused:
            shop.call("UserAdd", {"name": "Cem"})

        assert refused.value.reason == "bad_params"
        assert [one["user_id"] for one in shop.call("UserList", {})["users"]] == made


@pytest.mark.rule("T6.5")
def test_too_many_requests_are_refused_with_the_time_to_wait(tmp_path):
    clock = FixedClock()
    with Backshop.open(
        tmp_path / "home", settings={"team.requests_per_minute": 3}, clock=clock
    ) as shop:
        ada = shop.call("UserAdd", {"name": "Ada"})["user_id"]
        for _ in range(3):
            shop.call("WorkbenchList", {}, user=ada)
        with pytest.raises(LimitExceeded) as refused:
            shop.call("WorkbenchList", {}, user=ada)
        assert refused.value.reason == "user_limit"
        assert 0 < (refused.value.retry.after_ms or 0) <= 60_000
        shop.call("WorkbenchList", {})  # the owner is not counted
        clock.move(61_000)
        shop.call("WorkbenchList", {}, user=ada)


@pytest.mark.rule("T6.4", "R7.6")
def test_a_key_of_ones_own_never_leads_to_somebody_elses_session(tmp_path):
    with Backshop.open(tmp_path / "home") as shop:
        ada, ben = (shop.call("UserAdd", {"name": name})["user_id"] for name in ("Ada", "Ben"))
        asked = {"workflowId": "wr.change_review", "idempotencyKey": "the-same-key"}
        sessions = [
            shop.call("start_workflow", asked, user=user)["session"]["sessionId"]
            for user in (None, ada, ben, ada)
        ]
        notes = [
            shop.call("start_session", {"idempotencyKey": "the-same-key"}, user=user)["session"]
            for user in (None, ada, ben)
        ]
        grants = shop.call("AccessList", {})["access"]

    assert len(set(sessions)) == 3
    assert sessions[1] == sessions[3]
    assert len({one["sessionId"] for one in notes}) == 3
    assert {(one["subject"], one["name"]) for one in grants} == {
        (sessions[1], "Ada"),
        (sessions[2], "Ben"),
        (notes[1]["sessionId"], "Ada"),
        (notes[2]["sessionId"], "Ben"),
    }


@pytest.mark.rule("T6.5")
def test_limits_are_counted_over_all_processes(tmp_path):
    settings = {"team.requests_per_minute": 3, "team.bench_requests_per_minute": 2}
    clock = FixedClock()
    with (
        Backshop.open(tmp_path / "home", settings=settings, clock=clock) as one,
        Backshop.open(tmp_path / "home", settings=settings, clock=clock) as other,
    ):
        ada = one.call("UserAdd", {"name": "Ada"})["user_id"]
        for shop in (one, other, one):
            shop.call("WorkbenchList", {}, user=ada)
        with pytest.raises(LimitExceeded) as refused:
            other.call("WorkbenchList", {}, user=ada)
        assert refused.value.detail == "team.requests_per_minute"

        clock.move(61_000)
        bench = one.call("WorkbenchCreate", {"name": "Mine"}, user=ada)["workbench_id"]
        clock.move(61_000)
        for shop in (one, other):
            shop.call("WorkbenchOpen", {"workbench_id": bench}, user=ada)
        with pytest.raises(LimitExceeded) as refused:
            one.call("WorkbenchOpen", {"workbench_id": bench}, user=ada)
        assert refused.value.detail == "team.bench_requests_per_minute"


@pytest.mark.rule("T6.5")
@pytest.mark.parametrize("first", [1, 7, 93])
def test_two_processes_that_draw_several_at_once_let_in_no_more_than_the_limit(tmp_path, first):
    settings, clock = {"team.requests_per_minute": 100}, FixedClock()
    with (
        Backshop.open(tmp_path / "home", settings=settings, clock=clock) as one,
        Backshop.open(tmp_path / "home", settings=settings, clock=clock) as other,
    ):
        ada = one.call("UserAdd", {"name": "Ada"})["user_id"]

        def admitted(shop: Backshop, tries: int) -> int:
            """Return how many of so many calls are let in."""
            count = 0
            for _ in range(tries):
                try:
                    shop.call("EngineGetInfo", {}, user=ada)
                except LimitExceeded as refused:
                    assert refused.detail == "team.requests_per_minute"
                else:
                    count += 1
            return count

        let_in = [admitted(one, first), admitted(other, 101), admitted(one, 101)]

    assert let_in[0] == first
    assert sum(let_in) == 100  # what one process drew and did not use is its own for the minute


@pytest.mark.rule("T6.4", "T6.5")
def test_a_person_removed_in_mid_turn_gets_no_further(tmp_path):
    settings = {"model.default": "scripted:slow", "team.turns": 1}
    with Backshop.open(tmp_path / "home", settings=settings) as shop:
        shop.models.play("slow", SLOW)
        ada = shop.call("UserAdd", {"name": "Ada"})["user_id"]
        benches = [
            shop.call("WorkbenchCreate", {"name": name}, user=ada)["workbench_id"]
            for name in ("One", "Two")
        ]
        wishes = []
        for bench in benches:
            sent = {"workbench_id": bench, "text": "Work"}
            message = shop.call("WorkshopSendUserMessage", sent, user=ada)["message_id"]
            wishes.append({"workbench_id": bench, "message_id": message})
        ended: Future[Any] = Future()
        work = threading.Thread(
            target=lambda: ended.set_result(shop.call("WorkshopRunAgent", wishes[0], user=ada))
        )
        work.start()
        while not shop.workshops.turns_of(ada):
            assert work.is_alive()

        with pytest.raises(LimitExceeded) as refused:
            shop.call("WorkshopRunAgent", wishes[1], user=ada)
        assert refused.value.detail == "team.turns"
        shop.call("UserRemove", {"user_id": ada})

        assert ended.result(120)["status"] == "canceled"
        with pytest.raises(AccessDenied):
            shop.call("WorkshopRunAgent", wishes[1], user=ada)
        work.join(10)
