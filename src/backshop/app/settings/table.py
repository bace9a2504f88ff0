"""Every setting: name, what is allowed, what it is for; its default is in `base.limits` (S3)."""

from __future__ import annotations

from backshop.base.limits import (
    BATCH_FILES_MAX,
    BATCH_MAX_BYTES,
    BATCH_OPERATIONS_MAX,
    BENCH_PROFILE,
    BLOCKED_ATTEMPTS_MAX,
    CALL_S,
    CONTEXT_TIMEOUT_S,
    DAY_S,
    DISK_RESERVE_BYTES,
    FILE_HARD_MAX_BYTES,
    FILE_MAX_BYTES,
    FIRST_EVENT_LOCAL_S,
    FIRST_EVENT_S,
    FULL_VIEW_MAX_FILES,
    GIB,
    IDLE_S,
    LOCK_WAIT_MS,
    LOOP_STOP_CALLS,
    LOOP_WARNING_CALLS,
    LOOP_WINDOW_CALLS,
    PREVIEW_CACHE_BYTES,
    PREVIEW_CACHE_HARD_MAX_BYTES,
    RAILS_NOTES,
    RAILS_PRESET,
    RECALCULATE,
    RETENTION_DAYS,
    REVISIONS_MAX,
    RUN_LEASE_S,
    STORE_CONNECTIONS,
    TEXT_HARD_MAX_BYTES,
    TEXT_MAX_BYTES,
    TRASH_DAYS,
    TURN_FLOW,
    TURN_MAX_MINUTES,
    TURN_MAX_PICTURES,
    WORK_CALLS_MAX,
    WORK_FILES_MAX,
    WORK_REQUESTS_MAX,
    WORK_WRITES_MAX,
)

from .parser import (
    Reader,
    Setting,
    amount,
    choice,
    flag,
    folder,
    folders,
    integer,
    json_list,
    json_object,
    keywords,
    limits,
    networks,
    onboarding,
    proxy,
    short_text,
    url,
)

_LEVELS = ("debug", "info", "warning", "error")

SETTINGS: tuple[Setting, ...] = (
    Setting(
        name="onboarding",
        default={},
        parse=Reader(
            onboarding, "an object with completed, dismissed (true or false) and version (a number)"
        ),
        summary="How far the first steps of the web app were taken.",
        live=True,
    ),
    Setting(
        name="database_url",
        env="BACKSHOP_DATABASE_URL",
        parse=Reader(url("sqlite", "postgresql", "postgres"), "sqlite:///path or postgresql://…"),
        summary="Where events are kept; by default store.db in the home.",
    ),
    Setting(
        name="blobs_url",
        env="BACKSHOP_BLOBS_URL",
        parse=Reader(url("file", "s3"), "file:///path or s3://bucket/prefix"),
        summary="Where contents are kept; by default the folder blobs in the home.",
    ),
    Setting(
        name="web.public_url",
        env="BACKSHOP_PUBLIC_URL",
        parse=Reader(url("http", "https"), "http://name or https://name"),
        summary="What people type into their browser where a proxy stands before the server.",
    ),
    Setting(
        name="web.trusted_proxies",
        env="BACKSHOP_TRUSTED_PROXIES",
        default=(),
        parse=Reader(networks, "a list of addresses and networks such as 10.0.0.7 and 10.1.0.0/16"),
        summary="Proxies believed when they say whom a request is from (X-Forwarded-For).",
    ),
    Setting(
        name="log",
        env="BACKSHOP_LOG",
        default="warning",
        parse=choice(*_LEVELS),
        summary="How much goes to the log.",
    ),
    Setting(
        name="log_format",
        env="BACKSHOP_LOG_FORMAT",
        default="text",
        parse=choice("text", "json"),
        summary="How lines of the log are written; json is one object a line.",
    ),
    Setting(
        name="offline",
        env="BACKSHOP_OFFLINE",
        default=False,
        parse=flag,
        summary="No model call may leave the machine.",
    ),
    Setting(
        name="workflow_path",
        env="BACKSHOP_WORKFLOW_PATH",
        default=(),
        parse=folders,
        summary="Extra folders with workflows.",
    ),
    Setting(
        name="store.lock_wait_ms",
        default=LOCK_WAIT_MS,
        parse=integer(0, 600_000),
        summary="How long a writer waits for another one.",
    ),
    Setting(
        name="store.connections",
        default=STORE_CONNECTIONS,
        parse=integer(2, 100),
        summary="Connections to PostgreSQL that one process uses at once for events and contents.",
    ),
    Setting(
        name="rails.bundled_dirs",
        default=(),
        parse=folders,
        summary="Folders whose workflows count as bundled.",
    ),
    Setting(
        name="rails.git_sources",
        default=(),
        parse=Reader(json_list, "a list of {url, ref, path?, namespace?}"),
        summary="Repositories of workflows, fetched by `backshop workflow sync`.",
    ),
    Setting(
        name="rails.preset",
        default=RAILS_PRESET,
        parse=choice("guided", "full_auto", "full_auto_nonstop"),
        summary="The mode new runs begin with.",
    ),
    Setting(
        name="rails.notes",
        default=RAILS_NOTES,
        parse=Reader(choice("encouraged", "required"), "encouraged or required"),
        summary="Whether a step may be acknowledged without notes.",
    ),
    Setting(
        name="rails.agent_may_automate",
        default=False,
        parse=flag,
        summary="Whether an agent over MCP may choose more automation than a run has.",
    ),
    Setting(
        name="rails.agent_may_approve",
        default=False,
        parse=flag,
        summary="Whether an agent's word that you approved counts as your approval.",
    ),
    Setting(
        name="rails.workspace",
        parse=folder,
        summary="The workspace whose project workflows count when a call names none.",
    ),
    Setting(
        name="rails.max_blocked_attempts",
        default=BLOCKED_ATTEMPTS_MAX,
        parse=integer(1, 1000),
        summary="How often in a row a step may be blocked.",
    ),
    Setting(
        name="rails.retention_days",
        default=RETENTION_DAYS,
        parse=Reader(integer(0, 3650), "1 to 3650, or 0 for ever"),
        summary="How long a session without activity is kept.",
    ),
    *(
        Setting(
            name=f"rails.tools.{tool}",
            default=True,
            parse=flag,
            summary=f"Whether agents see the tool {tool}.",
        )
        for tool in ("checkpoint_workflow", "resume_session", "start_session")
    ),
    Setting(
        name="workshop.flow",
        default=TURN_FLOW,
        parse=Reader(choice("auto", "rpi", "compat"), "auto, rpi or compat"),
        summary="How turns are executed where a workbench says nothing else; those made by 0.1.0 "
        "keep rpi until this is set.",
    ),
    *(
        Setting(
            name=f"workshop.{name}",
            default=default,
            parse=integer(least, most),
            summary=summary,
        )
        for name, default, least, most, summary in (
            (
                *("max_turn_minutes", TURN_MAX_MINUTES, 1, 1440),
                "How long a turn may take before it waits for you.",
            ),
            (
                *("max_pictures", TURN_MAX_PICTURES, 0, 100),
                "How many pictures of pages the agent may look at in a turn.",
            ),
            (
                *("max_revisions", REVISIONS_MAX, 10, 1000),
                "States of Drafts one workbench can go back to.",
            ),
            (
                *("context_timeout_s", CONTEXT_TIMEOUT_S, 5, 3600),
                "How long making a context item may take.",
            ),
        )
    ),
    Setting(
        name="workshop.talk_on_draft",
        default=False,
        parse=flag,
        summary="Whether messages can be sent while a Draft waits for review; they are about it.",
    ),
    *(
        Setting(
            name=f"workshop.loop_{name}",
            default=default,
            parse=integer(least, 100),
            summary=f"How {summary}.",
        )
        for name, default, least, summary in (
            ("window", LOOP_WINDOW_CALLS, 2, "many of the agent's last tool calls are compared"),
            (
                *("warning", LOOP_WARNING_CALLS, 2),
                "often the same call is made before the agent is warned",
            ),
            (
                *("stop", LOOP_STOP_CALLS, 3),
                "often the same call is made before the agent is stopped",
            ),
        )
    ),
    *(
        Setting(
            name=f"workshop.work_{name}",
            default=default,
            parse=integer(1, 1000),
            summary=f"How many {summary} a turn of flow auto does before it has to plan.",
        )
        for name, default, summary in (
            ("requests", WORK_REQUESTS_MAX, "requests to the model"),
            ("calls", WORK_CALLS_MAX, "tool calls"),
            ("writes", WORK_WRITES_MAX, "writes"),
            ("files", WORK_FILES_MAX, "files written one by one"),
        )
    ),
    Setting(
        name="providers",
        parse=Reader(json_object, "an object of provider settings"),
        summary="Servers of your own, efforts, and what is switched off; see `backshop provider`.",
        live=True,
    ),
    Setting(
        name="model.default",
        parse=Reader(short_text(161), "a model id such as openai:gpt-5.2"),
        summary="The model new workbenches begin with.",
        live=True,
    ),
    Setting(
        name="consent.mode",
        default="ask",
        parse=choice("ask", "allow_all"),
        summary="Whether you are asked before content leaves the machine.",
        live=True,
    ),
    Setting(
        name="consent.for_local",
        default=False,
        parse=flag,
        summary="Whether model servers on this machine need consent too.",
        live=True,
    ),
    Setting(
        name="network.proxy",
        env="BACKSHOP_PROXY",
        parse=Reader(proxy, "http://host:port or http://user:password@host:port"),
        summary="The proxy through which providers elsewhere are reached; by default none.",
    ),
    *(
        Setting(name=f"models.{name}", default=default, parse=integer(1, DAY_S), summary=summary)
        for name, default, summary in (
            ("first_event_s", FIRST_EVENT_S, "Seconds a model elsewhere may take to begin."),
            ("first_event_local_s", FIRST_EVENT_LOCAL_S, "The same for one on this machine."),
            ("idle_s", IDLE_S, "Seconds a model may be silent once its answer has begun."),
            ("call_s", CALL_S, "Seconds one call of a model may take in all."),
        )
    ),
    Setting(
        name="budget.tokens",
        parse=Reader(integer(1, 10**12), "1 or more"),
        summary="Tokens one workbench may use in all.",
        live=True,
    ),
    Setting(
        name="budget.usd",
        parse=Reader(amount, "an amount above 0"),
        summary="What one workbench may cost in all, in US dollars.",
        live=True,
    ),
    Setting(
        name="team.workers",
        env="BACKSHOP_WORKERS",
        default="inside",
        parse=choice("inside", "external"),
        summary="Who runs the agent's turns: the process that was asked, or `backshop worker`.",
    ),
    Setting(
        name="team.lease_s",
        default=RUN_LEASE_S,
        parse=integer(2, 3600),
        summary="How long a process that is silent keeps the turn it works on, in seconds.",
    ),
    *(
        Setting(
            name=f"team.{name}",
            default=default,
            parse=Reader(integer(0, most), "1 or more, or 0 for no limit"),
            summary=f"{summary}; the owner is not counted.",
        )
        for name, default, most, summary in (
            ("requests_per_minute", 600, 10**6, "Commands one person may call in a minute"),
            ("bench_requests_per_minute", 3000, 10**6, "Commands about one workbench in a minute"),
            ("turns", 8, 10**4, "Turns one person may have running"),
            ("stored_bytes", 0, 10**15, "Bytes in Published of the workbenches one person made"),
        )
    ),
    Setting(
        name="models",
        default=(),
        parse=Reader(json_list, "a list of model entries"),
        summary="Models beyond the bundled catalog.",
        live=True,
    ),
    Setting(
        name="limits",
        parse=Reader(
            limits, "an object with max_files, max_file_bytes, max_total_bytes, max_depth"
        ),
        summary="What new workbenches may hold, in place of a profile.",
    ),
    Setting(
        name="bench.profile",
        default=BENCH_PROFILE,
        parse=choice("classic", "standard", "large"),
        summary="The limits new workbenches begin with.",
    ),
    *(
        Setting(
            name=f"bench.{name}",
            default=default,
            parse=integer(1, most),
            summary=summary,
        )
        for name, default, most, summary in (
            (
                *("batch_operations", BATCH_OPERATIONS_MAX, 10_000),
                "Operations one write to a Draft may have.",
            ),
            ("batch_files", BATCH_FILES_MAX, 10_000, "Files one write to a Draft may touch."),
            ("batch_bytes", BATCH_MAX_BYTES, 64 * GIB, "Bytes one write to a Draft may bring."),
            ("trash_days", TRASH_DAYS, 3650, "How long a deleted workbench can be taken back."),
        )
    ),
    Setting(
        name="bench.full_view_max",
        default=FULL_VIEW_MAX_FILES,
        parse=integer(0, 10**6),
        summary="Files up to which the Draft's folder holds every file without being asked; "
        "beyond, those that the Draft changes.",
    ),
    Setting(
        name="bench.checkpoint_max_bytes",
        parse=Reader(integer(1, 10**15), "1 or more"),
        summary="Bytes that only earlier versions keep, from which on old ones go.",
    ),
    Setting(
        name="bench.disk_reserve_bytes",
        default=DISK_RESERVE_BYTES,
        parse=Reader(integer(0, 10**15), "0 or more"),
        summary="Free disk space below which nothing new is begun.",
    ),
    Setting(
        name="formats.recalculate",
        default=RECALCULATE,
        parse=flag,
        summary="Whether formulas are computed anew after a write; else their results only go.",
    ),
    Setting(
        name="bench.style_keywords",
        parse=Reader(keywords, "an object of xlsx, docx, pptx with lists of words"),
        summary="Words that say a conversation is about workbooks, documents or slides.",
    ),
    Setting(
        name="formats.max_file_bytes",
        default=FILE_MAX_BYTES,
        parse=integer(1, FILE_HARD_MAX_BYTES),
        summary="The largest office file, PDF or picture that is opened.",
    ),
    Setting(
        name="formats.max_text_bytes",
        default=TEXT_MAX_BYTES,
        parse=integer(1, TEXT_HARD_MAX_BYTES),
        summary="The largest text or csv file that is opened.",
    ),
    Setting(
        name="formats.preview_cache_bytes",
        default=PREVIEW_CACHE_BYTES,
        parse=integer(1, PREVIEW_CACHE_HARD_MAX_BYTES),
        summary="How much room pictures of pages may take; the longest unused go first.",
    ),
    Setting(
        name="formats.renderer_path",
        parse=folder,
        summary="The LibreOffice that draws pages; by default soffice on the search path.",
    ),
)
