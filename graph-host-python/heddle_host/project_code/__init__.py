"""Runs a project's own code that is not a graph: its ASGI app, its auth handlers, its embedding function.

The server starts this package as a process (``python -m heddle_host.project_code``) with the project's interpreter and
talks to it over descriptor 3, in the frames of the graph host protocol: two lengths, a JSON header, raw bytes. HTTP
itself stays in the server, so the project's environment needs no web server.
"""
