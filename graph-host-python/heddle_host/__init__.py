"""Graph host for Python: executes a project's LangGraph graphs for a Heddle server."""
