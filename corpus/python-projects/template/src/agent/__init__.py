"""The package of the template, which other files import."""

from agent.graph import graph

__all__ = ["graph"]
