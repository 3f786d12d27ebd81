import pytest
from fastapi import FastAPI, WebSocket

from heddle_host.project_code.app import App


def test_names_the_websockets_that_are_not_served(capsys: pytest.CaptureFixture[str]) -> None:
    app = FastAPI()

    @app.get("/plain")
    async def plain() -> str:
        return "plain"

    App(app, "./app.py:app")
    assert capsys.readouterr().err == ""

    @app.websocket("/chat")
    async def chat(socket: WebSocket) -> None:
        await socket.accept()

    App(app, "./app.py:app")
    assert "http.app: /chat of ./app.py:app cannot be reached" in capsys.readouterr().err
