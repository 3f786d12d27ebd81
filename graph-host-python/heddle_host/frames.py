"""Frames of the host protocol: generated from host-kit/src/host-protocol.ts, which describes them.

`npm run host-frames` writes this file.
"""

from __future__ import annotations

from typing import Any, Literal, TypeAlias, TypedDict

from typing_extensions import NotRequired

PROTOCOL_VERSION = 1


class PingFrame(TypedDict):
    t: Literal["ping"]
    n: int


class RunStart(TypedDict):
    t: Literal["run.start"]
    run_id: str
    thread_id: str
    assistant_id: str
    graph_id: str
    attempt: int
    fresh_thread: bool
    head: NotRequired[str]
    keep_tool_calls: NotRequired[Literal[True]]
    notify: bool
    hold_end: NotRequired[bool]


class RunCancelFrame(TypedDict):
    t: Literal["run.cancel"]
    run_id: str
    reason: str


class RunHoldFrame(TypedDict):
    t: Literal["run.hold"]
    run_id: str


class CallFrame(TypedDict):
    t: Literal["call"]
    id: int
    method: Literal["graph.schemas", "graph.drawing", "graph.subgraphs", "state.get", "state.history", "state.update"]


class WireError(TypedDict):
    status: int
    name: str
    message: str


class StoreResultFrame(TypedDict):
    t: Literal["store.result"]
    id: int
    error: NotRequired[WireError]


class CheckpointResultFinished(TypedDict):
    outcome: str
    waiting: bool


class WireWrite(TypedDict):
    task_id: str
    idx: int
    channel: str
    type: str
    bytes: int


class WireCheckpoint(TypedDict):
    thread_id: str
    ns: str
    id: str
    parent_id: str | None
    bytes: tuple[int, int]
    values: list[tuple[str, int]]
    writes: list[WireWrite]
    parent_sends: list[WireWrite]


class WireValue(TypedDict):
    type: str
    version: str
    bytes: int
    base: NotRequired[int]


class CheckpointResultHistory(TypedDict):
    channel: str
    writes: list[WireWrite]
    seed: NotRequired[int]


class CheckpointResult(TypedDict):
    t: Literal["checkpoint.result"]
    id: int
    error: NotRequired[WireError]
    finished: NotRequired[CheckpointResultFinished]
    checkpoints: NotRequired[list[WireCheckpoint]]
    values: NotRequired[list[WireValue]]
    newest: NotRequired[str]
    history: NotRequired[list[CheckpointResultHistory]]


class TraceDestination1(TypedDict):
    state: Literal["off", "waiting"]


class TraceDestinationOn(TypedDict):
    state: Literal["on"]
    url: str
    key: str | None


TraceDestination: TypeAlias = TraceDestination1 | TraceDestinationOn


class TraceToFrame(TypedDict):
    t: Literal["trace.to"]
    to: TraceDestination


class ListsWholeFrame(TypedDict):
    t: Literal["lists.whole"]
    whole: bool


class DataKeysKeys(TypedDict):
    id: str
    key: str


class DataKeysLocked(TypedDict):
    id: str
    reason: str


class DataKeys(TypedDict):
    keys: list[DataKeysKeys]
    current: str | None
    locked: list[DataKeysLocked]


class StateKeysFrame(TypedDict):
    t: Literal["state.keys"]
    keys: DataKeys


class TraceCloseFrame(TypedDict):
    t: Literal["trace.close"]


class TraceFlushFrame(TypedDict):
    t: Literal["trace.flush"]
    ms: int


class DrainFrame(TypedDict):
    t: Literal["drain"]


class CloseFrame(TypedDict):
    t: Literal["close"]


ServerFrame: TypeAlias = (
    PingFrame
    | RunStart
    | RunCancelFrame
    | RunHoldFrame
    | CallFrame
    | StoreResultFrame
    | CheckpointResult
    | TraceToFrame
    | ListsWholeFrame
    | StateKeysFrame
    | TraceCloseFrame
    | TraceFlushFrame
    | DrainFrame
    | CloseFrame
)


class GraphStatusTrue(TypedDict):
    ok: Literal[True]
    description: str | None
    notes: NotRequired[list[str]]


class GraphStatusFalse(TypedDict):
    ok: Literal[False]
    description: str | None
    error: str


GraphStatus: TypeAlias = GraphStatusTrue | GraphStatusFalse


class ReadyFrame(TypedDict):
    t: Literal["ready"]
    protocol: int
    langgraph_version: str
    graphs: dict[str, GraphStatus]


class PongFrame(TypedDict):
    t: Literal["pong"]
    n: int
    rss: int
    heap: int


class EventFrame(TypedDict):
    t: Literal["event"]
    run_id: str
    event: str


class MarkFrame(TypedDict):
    t: Literal["mark"]
    run_id: str
    checkpoint_id: str


class RunResumedFrame(TypedDict):
    t: Literal["run.resumed"]
    run_id: str
    checkpoint_id: str | None


Outcome: TypeAlias = Literal["success", "error", "cancelled", "fenced", "retry"]


class RunEndError(TypedDict):
    error: str
    message: str
    stack: NotRequired[str]


class RunEndFinished(TypedDict):
    outcome: str
    waiting: bool


class RunEnd(TypedDict):
    t: Literal["run.end"]
    run_id: str
    attempt: int
    outcome: Outcome
    error: NotRequired[RunEndError]
    finished: NotRequired[RunEndFinished]


class ResultFrame(TypedDict):
    t: Literal["result"]
    id: int
    error: NotRequired[WireError]
    shared: NotRequired[Literal[True]]


class StoreCallFrame(TypedDict):
    t: Literal["store.call"]
    id: int


class WireItemFence(TypedDict):
    run_id: str
    attempt: int


class WireItemCheckpoint(TypedDict):
    id: str
    parent_id: str | None
    bytes: tuple[int, int]


class WireItemBlobs(TypedDict):
    channel: str
    version: str
    type: str
    link: str | None
    bytes: int | None


class WireItemWrites(TypedDict):
    checkpoint_id: str
    task_id: str
    idx: int
    channel: str
    type: str
    replaces: bool
    bytes: int


class WireItemFinish(TypedDict):
    notify: bool
    bytes: int


class WireItem(TypedDict):
    thread_id: str
    ns: str
    fence: NotRequired[WireItemFence]
    guard: NotRequired[list[tuple[str, str]]]
    checkpoint: NotRequired[WireItemCheckpoint]
    blobs: list[WireItemBlobs]
    writes: list[WireItemWrites]
    finish: NotRequired[WireItemFinish]


class CheckpointWriteFrame(TypedDict):
    t: Literal["checkpoint.write"]
    id: int
    lazy: bool
    item: WireItem


class CheckpointHurryFrame(TypedDict):
    t: Literal["checkpoint.hurry"]


class CheckpointRelaxFrame(TypedDict):
    t: Literal["checkpoint.relax"]
    ids: list[int]


class WireQuery(TypedDict):
    thread_id: NotRequired[str]
    ns: NotRequired[str]
    id: NotRequired[str]
    before: NotRequired[str]
    filter: NotRequired[dict[str, Any]]
    limit: NotRequired[int]


class CheckpointReadFrame(TypedDict):
    t: Literal["checkpoint.read"]
    id: int
    query: WireQuery


class CheckpointHistoryFrame(TypedDict):
    t: Literal["checkpoint.history"]
    id: int
    thread_id: str
    ns: str
    checkpoint_id: NotRequired[str]
    channels: list[str]


class CheckpointChangeDeleteThreads(TypedDict):
    op: Literal["delete_threads"]
    thread_ids: list[str]


class CheckpointChangeCopyThread(TypedDict):
    op: Literal["copy_thread"]
    source: str
    target: str


class CheckpointChangeKeepLatest(TypedDict):
    op: Literal["keep_latest"]
    thread_ids: list[str]


class CheckpointChangeDeleteRuns(TypedDict):
    op: Literal["delete_runs"]
    run_ids: list[str]


CheckpointChange: TypeAlias = (
    CheckpointChangeDeleteThreads
    | CheckpointChangeCopyThread
    | CheckpointChangeKeepLatest
    | CheckpointChangeDeleteRuns
)


class CheckpointChangeFrame(TypedDict):
    t: Literal["checkpoint.change"]
    id: int
    change: CheckpointChange


CheckpointFrame: TypeAlias = (
    CheckpointWriteFrame
    | CheckpointHurryFrame
    | CheckpointRelaxFrame
    | CheckpointReadFrame
    | CheckpointHistoryFrame
    | CheckpointChangeFrame
)


class TraceFlushedFrame(TypedDict):
    t: Literal["trace.flushed"]


class LoadedFrame(TypedDict):
    t: Literal["loaded"]


class FaultFrame(TypedDict):
    t: Literal["fault"]
    message: str


HostFrame: TypeAlias = (
    ReadyFrame
    | PongFrame
    | EventFrame
    | MarkFrame
    | RunResumedFrame
    | RunEnd
    | ResultFrame
    | StoreCallFrame
    | CheckpointFrame
    | TraceFlushedFrame
    | LoadedFrame
    | FaultFrame
)
