#!/bin/sh
# Commits the prompts of this directory under a tag, and runs an experiment with them. Exits with 1 when the gate fails.
#
#     gate.sh TAG [options of heddle experiment run]
#
# Environment: AGENT_URL (the agent server or deployment), HEDDLE_TRACE_URL and HEDDLE_API_KEY (the trace platform)
set -eu
tag=$1
shift
heddle prompts push --force --tag "$tag" --message "$tag"
heddle experiment run \
  --dataset "support questions" \
  --target "assistant:prompted@${AGENT_URL:-http://127.0.0.1:2024}" \
  --input "{\"question\": \"{{inputs.question}}\", \"tag\": \"$tag\"}" \
  --output '{"answer": "{{output.answer}}"}' \
  --evaluator "states the fact" \
  --gate "states_the_fact>=0.8" --gate "error_rate<=1%" \
  "$@"
