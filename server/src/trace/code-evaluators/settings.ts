import { choice, integer, list, text } from "../../base/config/options.ts";

export const codeEvaluatorOptions = {
  codeEvaluators: choice({
    env: ["HEDDLE_CODE_EVALUATORS"],
    default: "confined",
    of: ["confined", "unconfined", "off"],
    description:
      "Evaluators written in JavaScript and Python. confined: run without access to files, network and other " +
      "processes; Python needs Linux for it. unconfined: run Python without a system call filter, for development " +
      "only. off: evaluators in code fail.",
  }),
  codeEvaluatorSeconds: integer({
    env: ["HEDDLE_CODE_EVALUATOR_SECONDS"],
    default: 10,
    min: 1,
    max: 300,
    description: "Timeout of one evaluation by code in seconds.",
  }),
  codeEvaluatorMemoryMb: integer({
    env: ["HEDDLE_CODE_EVALUATOR_MEMORY_MB"],
    default: 256,
    min: 16,
    max: 2048,
    description: "Memory limit of one evaluation by code in MiB.",
  }),
  codeEvaluatorConcurrency: integer({
    env: ["HEDDLE_CODE_EVALUATOR_CONCURRENCY"],
    default: 2,
    min: 1,
    max: 64,
    description:
      "Maximum number of concurrent evaluations by code in a process; further ones wait. Workspaces take turns. " +
      "Each needs a process, which ends after a minute without work.",
  }),
  codeEvaluatorHosts: list({
    env: ["HEDDLE_CODE_EVALUATOR_HOSTS"],
    description:
      "Hosts that evaluators in code may send requests to, separated by commas: host, or host:port. Empty: none. " +
      "Private addresses must be in HEDDLE_OUTBOUND_ALLOW too.",
  }),
  codeEvaluatorPython: text({
    env: ["HEDDLE_CODE_EVALUATOR_PYTHON"],
    default: "python3",
    description:
      "Interpreter of evaluators in Python, a path or the name of a program: 3.10 or newer. Only its standard library is used.",
  }),
};
