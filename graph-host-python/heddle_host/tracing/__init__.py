"""Traces of runs, sent to the trace platform.

`RunTracing` gives each run a tracer: a subclass of LangChain's, from the project's environment, so that models,
subgraphs and `@traceable` find what they expect. It is in the run's own config instead of the environment, so that
executions other than runs are not traced.
"""
