"""Masking of traces, on the set that the JavaScript host is tested on."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from heddle_host.tracing.masking import DETECTORS, Masker, Masking, everything, mask_text, read_masking

LABELLED = json.loads((Path(__file__).parents[2] / "host-kit" / "src" / "masking" / "labelled.json").read_text("utf-8"))
ALL = [Masking(detectors=DETECTORS)]


def mask(masker: Masker, field: str, text: bytes) -> bytes:
    """Masks the JSON text of a field of a run."""
    before = b'{"%s": ' % field.encode()
    masked = masker.mask_run(before + text + b"}")
    assert masked.startswith(before)
    return masked[len(before) : -1]


@pytest.mark.parametrize("case", LABELLED, ids=lambda case: case["text"][:40])
def test_masks_as_labelled(case: dict[str, str]) -> None:
    assert mask_text(case["text"], ALL, name=case.get("name", "")) == case["masked"]
    assert mask_text(case["masked"], ALL) == case["masked"]


def test_masks_by_path_name_and_pattern() -> None:
    rules = [
        {"path": "messages.*.content", "pattern": r"\d{5}", "replacement": "#"},
        {"path": "messages.1"},
        {"detectors": ["secret"]},
    ]
    masker = read_masking(json.dumps(rules))
    assert masker is not None
    text = b'{"messages":[{"content":"call 12345","id":"12345"},{"content":"x"}],"api_key":"x"}'
    assert json.loads(mask(masker, "inputs", text)) == {
        "messages": [{"content": "call #", "id": "12345"}, "[masked]"],
        "api_key": "[secret]",
    }


def test_reads_the_setting() -> None:
    assert read_masking(" ") is None
    masker = read_masking("email, card")
    assert masker is not None
    assert mask(masker, "outputs", b'{"n": 1.0}') == b'{"n": 1.0}'
    assert mask(masker, "error", b'"to a@b.example"') == b'"to [email]"'
    masker = read_masking('[{"fields": ["metadata"], "detectors": ["email"]}]')
    assert masker is not None
    extra = b'{"metadata": {"user": "a@b.example"}, "x": "a@b.example"}'
    assert json.loads(mask(masker, "extra", extra)) == {"metadata": {"user": "[email]"}, "x": "a@b.example"}
    with pytest.raises(ValueError, match="no detector"):
        read_masking("emails")
    assert mask(everything(), "inputs", b'{"a": 1}') == b"{}"


def test_masks_names_and_halves_of_characters() -> None:
    masker = read_masking("email")
    assert masker is not None
    body = b'{"post": [{"id": "1", "inputs": {"a@b.example": "\\ud83d a@b.example"}}], "patch": []}'
    assert json.loads(masker.mask_batch(body))["post"][0]["inputs"] == {"[email]": "\ud83d [email]"}


def test_masks_names_of_runs_tags_and_attachments() -> None:
    fields = ["name", "tags", "attachments"]
    masker = read_masking(json.dumps([{"fields": fields, "detectors": ["email"]}]))
    assert masker is not None
    run = b'{"name": "for a@b.example", "tags": ["a@b.example"], "inputs": {"x": "a@b.example"}}'
    assert json.loads(masker.mask_run(run)) == {
        "name": "for [email]",
        "tags": ["[email]"],
        "inputs": {"x": "a@b.example"},
    }
    files = {"a@b.example.txt": ("text/plain", b"to a@b.example"), "photo": ("image/png", b"a@b.example")}
    assert masker.mask_files(files) == {
        "[email]": ("text/plain", b"to [email]"),
        "photo": ("image/png", b"a@b.example"),
    }
    assert everything().mask_files(files) == {}
