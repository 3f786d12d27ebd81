"""Lists that are stored as changes: every version reads back as it was put, and what is stored follows what is new."""

from __future__ import annotations

import operator
import random
from itertools import count
from typing import Annotated, Any, TypedDict
from uuid import uuid4

import ormsgpack
import pytest
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, RemoveMessage
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.graph import START, StateGraph
from langgraph.graph.message import add_messages

from heddle_host.calls.update_state import to_run_result
from heddle_host.checkpoints.channel_lists import ChannelLists
from heddle_host.checkpoints.list_changes import (
    CHANGE_TYPE,
    ListBuilder,
    StoredChannel,
    encode_change,
    join_list,
    split_list,
)
from heddle_host.checkpoints.remote import RemoteCheckpoints
from heddle_host.checkpoints.rows import BlobRow, Fence
from heddle_host.checkpoints.saver import HeddleSaver
from heddle_host.runs.state_text import HeadText
from heddle_host.serialize import from_json, to_plain

from .conftest import fetch


def test_splits_a_list_into_its_items_whatever_they_are() -> None:
    items: list[Any] = [None, True, -1, 127, 128, 70_000, 2**40, -(2**40), 1.5, "", "x" * 31, "y" * 300, "z" * 70_000]
    items += [b"b", b"b" * 300, [], [1, [2, {"k": [3]}]], list(range(40)), {"a": {"b": "c"}}]
    items += [{str(n): n for n in range(40)}]
    extensions = (1, 2, 3, 4, 8, 16, 300, 70_000)
    items += [ormsgpack.Ext(5, b"e" * length) for length in extensions]
    data = ormsgpack.packb(items)
    found = split_list(data)
    assert found is not None and len(found) == len(items)
    assert found == [ormsgpack.packb(item) for item in items]
    assert join_list(found) == data
    assert split_list(ormsgpack.packb({"a": 1})) is None
    assert join_list([b"\x01"] * 70_000) == ormsgpack.packb([1] * 70_000)


@pytest.mark.parametrize("seed", range(5))
def test_a_chain_of_changes_leads_to_each_version(seed: int) -> None:
    chance = random.Random(seed)
    new = lambda: {"id": chance.randrange(10**9), "text": "t" * chance.randrange(400)}  # noqa: E731
    items = [new() for _ in range(40)]
    whole = ormsgpack.packb(items)
    version, chain = "0", None
    stored: dict[str, tuple[str | None, bytes]] = {version: (None, whole)}
    changes = 0
    for n in range(1, 60):
        how = chance.randrange(6)
        if how == 0 and len(items) > 20:
            items = items[-20:]
        elif how == 1:
            items = [*items[:3], new(), *items[3:]]
        elif how == 2:
            items = chance.sample(items, len(items))
        else:
            items = [*items, new()]
        after = ormsgpack.packb(items)
        change = encode_change(StoredChannel("msgpack", whole, version, chain), StoredChannel("msgpack", after, str(n)))
        stored[str(n)] = (version, change.data) if change else (None, after)
        version, whole, chain = str(n), after, change.chain if change else None
        changes += change is not None
        path: list[bytes] = []
        at = version
        while stored[at][0] is not None:
            path.append(stored[at][1])
            at = stored[at][0] or ""
        builder = ListBuilder(stored[at][1], at)
        for data in reversed(path):
            builder.apply(data)
        assert builder.data() == after
        assert chain is None or builder.chain == chain
    assert changes > 40


class Chat(TypedDict):
    messages: Annotated[list[AnyMessage], add_messages]
    notes: Annotated[list[str], operator.add]


def chat(saver: HeddleSaver) -> Any:
    def answer(state: Chat) -> dict[str, Any]:
        turn = len(state["messages"])
        return {"messages": [AIMessage("answer " * 40, id=f"a{turn}")], "notes": [f"note {turn} " * 20]}

    return StateGraph(Chat).add_node("answer", answer).add_edge(START, "answer").compile(checkpointer=saver)


async def rows(checkpoints: RemoteCheckpoints, thread_id: str) -> list[tuple[str, str, int]]:
    found = await fetch(
        "select channel, type, octet_length(blob)::int from checkpoint_blobs where thread_id = $1 order by version",
        [thread_id],
    )
    return [(row[0], row[1], row[2]) for row in found]


def config_of(thread_id: str, checkpoint_id: str | None = None) -> Any:
    config = {"thread_id": thread_id, "checkpoint_ns": ""}
    return {"configurable": {**config, "checkpoint_id": checkpoint_id} if checkpoint_id else config}


async def talk(checkpoints: RemoteCheckpoints, thread_id: str, turns: range, checkpoint_id: str | None = None) -> None:
    """Each turn is a run with its own saver, which reads what the others have stored."""
    for turn in turns:
        saver = HeddleSaver(checkpoints)
        given = {"messages": [HumanMessage(f"turn {turn}", id=f"h{turn}")]}
        await chat(saver).ainvoke(given, config_of(thread_id, checkpoint_id))
        await saver.flush()


async def test_a_long_conversation_is_stored_by_what_is_new(checkpoints: RemoteCheckpoints) -> None:
    thread_id, turns = str(uuid4()), 80
    await talk(checkpoints, thread_id, range(turns))
    found = [row for row in await rows(checkpoints, thread_id) if row[0] == "messages"]
    # an input and an answer in each turn
    assert len(found) == 2 * turns
    changes = [size for _, kind, size in found if kind == CHANGE_TYPE]
    assert len(changes) > 1.8 * turns and max(changes) < 2000
    # the official saver would have stored about 3 MB
    assert sum(size for _, _, size in found) < 200_000
    graph = chat(HeddleSaver(checkpoints))
    state = await graph.aget_state(config_of(thread_id))
    assert [message.id for message in state.values["messages"]] == [
        name for turn in range(turns) for name in (f"h{turn}", f"a{2 * turn + 1}")
    ]
    lengths = [
        len(snapshot.values.get("messages", []))
        async for snapshot in graph.aget_state_history(config_of(thread_id), limit=20)
    ]
    assert lengths == [n for turn in range(turns, turns - 7, -1) for n in (2 * turn, 2 * turn - 1, 2 * turn - 2)][:20]


async def test_branches_and_removals_read_back_as_they_were_put(checkpoints: RemoteCheckpoints) -> None:
    thread_id = str(uuid4())
    await talk(checkpoints, thread_id, range(30))
    graph = chat(HeddleSaver(checkpoints))
    earlier = [found async for found in graph.aget_state_history(config_of(thread_id), limit=30)][-1]
    before = [message.id for message in earlier.values["messages"]]
    await talk(checkpoints, thread_id, range(100, 101), earlier.config["configurable"]["checkpoint_id"])
    state = await chat(HeddleSaver(checkpoints)).aget_state(config_of(thread_id))
    assert [message.id for message in state.values["messages"]][:-2] == before
    removing = chat(HeddleSaver(checkpoints))
    await removing.aupdate_state(
        config_of(thread_id), {"messages": [RemoveMessage(name) for name in before[3:9]]}, as_node="answer"
    )
    state = await chat(HeddleSaver(checkpoints)).aget_state(config_of(thread_id))
    assert [message.id for message in state.values["messages"]][:-2] == before[:3] + before[9:]


async def test_a_history_of_writes_begins_with_a_list_that_is_stored_as_a_change(
    checkpoints: RemoteCheckpoints,
) -> None:
    thread_id = str(uuid4())
    await talk(checkpoints, thread_id, range(40))
    saver = HeddleSaver(checkpoints)
    newest = [found async for found in saver.alist(config_of(thread_id), limit=2)]
    history = await saver.aget_delta_channel_history(config=newest[0].config, channels=["messages"])
    before = newest[1].checkpoint["channel_values"]["messages"]
    assert history["messages"]["seed"] == before and len(before) == 79
    assert [[message.id for message in value] for _, _, value in history["messages"]["writes"]] == [["a79"]]


async def test_versions_that_are_stored_whole_meanwhile_are_found(checkpoints: RemoteCheckpoints) -> None:
    thread_id = str(uuid4())
    await talk(checkpoints, thread_id, range(40))
    config = config_of(thread_id)
    expected = (await chat(HeddleSaver(checkpoints)).aget_state(config)).values
    found = await fetch(
        "select version from checkpoint_blobs where thread_id = $1 and channel = 'messages' and depth = 10", [thread_id]
    )
    for (version,) in found:
        saver = HeddleSaver(checkpoints)
        named = await fetch(
            "select checkpoint_id from checkpoints where thread_id = $1"
            " and checkpoint -> 'channel_versions' ->> 'messages' = $2 limit 1",
            [thread_id, version],
        )
        value = (await saver.aget_tuple(config_of(thread_id, named[0][0]))).checkpoint["channel_values"]["messages"]  # pyright: ignore[reportOptionalMemberAccess]
        await fetch(
            "update checkpoint_blobs set type = 'msgpack', blob = $3::bytea, base = null, chain = null, depth = null"
            " where thread_id = $1 and channel = 'messages' and version = $2",
            [thread_id, version, saver.serde.dumps_typed(value)[1]],
        )
    assert found
    assert (await chat(HeddleSaver(checkpoints)).aget_state(config)).values == expected


async def test_a_value_that_is_not_a_list_is_stored_whole(checkpoints: RemoteCheckpoints) -> None:
    thread_id = str(uuid4())
    saver = HeddleSaver(checkpoints)
    graph = StateGraph(dict).add_node("n", lambda _: {"text": "t" * 9000}).add_edge(START, "n")
    for _ in range(2):
        await graph.compile(checkpointer=saver).ainvoke({"text": "s" * 9000}, config_of(thread_id))
    await saver.flush()
    assert CHANGE_TYPE not in {kind for _, kind, _ in await rows(checkpoints, thread_id)}


class Counting(JsonPlusSerializer):
    """Counts the messages that are loaded and serialized."""

    def __init__(self) -> None:
        super().__init__()
        self.loaded = 0
        self.dumped = 0

    def dumps_typed(self, obj: Any) -> tuple[str, bytes]:
        self.dumped += len(obj) if isinstance(obj, list) else 0
        return super().dumps_typed(obj)

    def loads_typed(self, data: tuple[str, bytes]) -> Any:
        value = super().loads_typed(data)
        self.loaded += len(value) if isinstance(value, list) else 0
        return value


class Lists:
    """The lists of successive runs, each with its own object, of one thread in one process."""

    def __init__(self) -> None:
        self.stored: StoredChannel | None = None
        self.version = 0

    def run(self) -> tuple[ChannelLists, Counting, list[Any]]:
        serde = Counting()
        lists = ChannelLists(serde, tracks=True, stores_whole=lambda: False)
        return lists, serde, lists.load("t", "", "messages", self.stored) if self.stored else []

    def put(self, lists: ChannelLists, value: list[Any]) -> bytes:
        """Puts a value, and returns it as a reader finds it in the database."""
        self.version += 1
        row = BlobRow("t", "", "messages", str(self.version), "empty", None)
        before = self.stored
        lists.store(row, value, lambda typed: typed)
        self.stored = row.value
        assert self.stored
        if row.type == CHANGE_TYPE:
            assert before and row.blob
            builder = ListBuilder(before.data, before.version)
            builder.apply(row.blob)
            assert builder.data() == self.stored.data
        return self.stored.data


def messages(count: int) -> list[AnyMessage]:
    return [AIMessage("answer " * 10, id=str(n), additional_kwargs={"list": [n]}) for n in range(count)]


def whole(value: list[Any]) -> bytes:
    return JsonPlusSerializer().dumps_typed(value)[1]


def test_a_run_serializes_and_loads_only_what_is_new() -> None:
    thread = Lists()
    lists, serde, _ = thread.run()
    value = messages(100)
    assert thread.put(lists, value) == whole(value)
    lists.release("t", "")
    # the objects of the first run belong to its user: they are loaded
    lists, serde, value = thread.run()
    assert serde.loaded == 100
    for _ in range(3):
        value = [*value, HumanMessage("question", id=str(len(value)))]
        assert thread.put(lists, value) == whole(value)
    assert serde.dumped == 3
    lists.release("t", "")
    lists, serde, value = thread.run()
    assert serde.loaded == 3
    assert thread.put(lists, value) == whole(value)
    assert serde.dumped == 0


def test_objects_that_change_in_place_are_serialized_again() -> None:
    thread = Lists()
    lists, _, _ = thread.run()
    thread.put(lists, messages(50))
    lists, _, value = thread.run()
    thread.put(lists, value)
    value[3].content = "changed"
    value[4].additional_kwargs["list"].append("changed")
    value[5].response_metadata = {"a": 1}
    assert thread.put(lists, value) == whole(value)
    value[5].response_metadata["a"] = True
    assert thread.put(lists, value) == whole(value)
    value[6].added = "changed"
    assert thread.put(lists, [*value[:10], *value[12:], value[11]]) == whole([*value[:10], *value[12:], value[11]])
    lists.release("t", "")
    # left-behind code of that run may still change its objects
    value[7].content = "too late"
    _, _, taken = thread.run()
    assert whole(taken) == thread.stored.data  # pyright: ignore[reportOptionalMemberAccess]
    assert taken[7].content != "too late"
    # one caller takes an object; another gets its own
    _, _, other = thread.run()
    assert all(one is not two for one, two in zip(taken, other, strict=True))


def test_a_reader_is_shown_what_is_stored() -> None:
    thread = Lists()
    lists, serde, _ = thread.run()
    value = messages(50)
    thread.put(lists, value)
    assert thread.stored
    shown = lists.show("t", "", "messages", thread.stored)
    assert shown == value and serde.loaded == 0
    value[3].content = "changed"
    shown = lists.show("t", "", "messages", thread.stored)
    assert shown[3].content != "changed" and serde.loaded == 50


class Odd(AIMessage):
    """A class of the user's, whose text depends on more than its fields."""

    def model_dump(self, **options: Any) -> dict[str, Any]:
        return {**super().model_dump(**options), "content": str(next(_counter))}


_counter = count()


def test_messages_of_other_classes_are_serialized_each_time() -> None:
    thread = Lists()
    lists, serde, _ = thread.run()
    value = [*messages(50), Odd("x")]
    thread.put(lists, value)
    thread.put(lists, value)
    assert serde.dumped == 52


async def finished_turn(checkpoints: RemoteCheckpoints, thread_id: str, given: list[AnyMessage]) -> tuple[bytes, str]:
    """Runs a turn to its end as the host does. Returns the state that ends it, and the run's outcome."""
    run_id = str(uuid4())
    await fetch(
        """
with t as (
  insert into threads (thread_id, status, running_run_id) values ($1::uuid, 'busy', $2::uuid)
  on conflict (thread_id) do update set status = 'busy', running_run_id = excluded.running_run_id)
insert into runs (run_id, thread_id, assistant_id, status, attempt)
values ($2::uuid, $1::uuid, $1::uuid, 'running', 1)""",
        [thread_id, run_id],
    )
    saver = HeddleSaver(checkpoints, fence=Fence(run_id, 1))
    await chat(saver).ainvoke({"messages": given}, config_of(thread_id))
    head = HeadText(to_run_result(await chat(saver.reader()).aget_state(config_of(thread_id))), saver, thread_id)
    text = head.text()
    finished = await saver.finish(thread_id, text, False, head.whole, head.shown)
    return text, finished.outcome


async def shown_values(checkpoints: RemoteCheckpoints, thread_id: str) -> Any:
    statement = "select thread_values(thread_id, values, value_lists)::text from threads where thread_id = $1::uuid"
    return from_json((await fetch(statement, [thread_id]))[0][0])


async def test_a_run_ends_with_the_new_items_of_its_lists(checkpoints: RemoteCheckpoints) -> None:
    thread_id = str(uuid4())

    async def assert_shown() -> None:
        expected = (await chat(HeddleSaver(checkpoints)).aget_state(config_of(thread_id))).values
        assert await shown_values(checkpoints, thread_id) == to_plain(expected)

    text, outcome = await finished_turn(checkpoints, thread_id, messages(200))
    assert outcome == "success" and text.startswith(b'{"lists":{"messages":{"keep":0,')
    await assert_shown()
    for _ in range(2):
        text, outcome = await finished_turn(checkpoints, thread_id, [HumanMessage("question")])
        assert outcome == "success" and len(text) < 4000
        await assert_shown()
    text, outcome = await finished_turn(checkpoints, thread_id, [RemoveMessage("7"), HumanMessage("question")])
    assert outcome == "success" and text.startswith(b'{"lists":{"messages":{"keep":7,')
    await assert_shown()
    # another server has written the values since
    await fetch("update threads set values_of = 'other' where thread_id = $1::uuid", [thread_id])
    text, outcome = await finished_turn(checkpoints, thread_id, [HumanMessage("question")])
    assert outcome == "success" and len(text) < 4000
    await assert_shown()


async def test_a_list_of_few_long_messages_ends_with_its_new_items(checkpoints: RemoteCheckpoints) -> None:
    thread_id = str(uuid4())
    long = [HumanMessage("x" * 2048) for _ in range(40)]
    text, outcome = await finished_turn(checkpoints, thread_id, [*long])
    assert outcome == "success" and text.startswith(b'{"lists":{"messages":{"keep":0,')
    text, outcome = await finished_turn(checkpoints, thread_id, [HumanMessage("question")])
    assert outcome == "success" and len(text) < 4000
    expected = (await chat(HeddleSaver(checkpoints)).aget_state(config_of(thread_id))).values
    assert await shown_values(checkpoints, thread_id) == to_plain(expected)


async def test_lists_of_64_items_or_of_more_than_16_kib_are_apart(checkpoints: RemoteCheckpoints) -> None:
    saver = HeddleSaver(checkpoints)
    large, letters, fits = ["x" * 16 * 1024], ["ж" * 8 * 1024], ["x" * (16 * 1024 - 4)]
    values = {
        "long": [*range(64)],
        "large": large,
        "letters": letters,
        "fits": fits,
        "short": [1],
        "text": "x" * 20_000,
    }
    head = HeadText({"values": values, "next": ["n"], "of": "c2"}, saver, str(uuid4()))
    for text in (head.text(), head.whole()):
        assert text.startswith(b'{"lists":')
        assert from_json(text) == {
            "lists": {name: {"keep": 0, "items": values[name]} for name in ("long", "large", "letters")},
            "values": {name: values[name] for name in ("fits", "short", "text")},
            "next": ["n"],
            "of": "c2",
        }
