import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

import { WORKFLOW_HEAD } from "../../core/workflow-head.ts";

export const WORKFLOW_PATH = ".github/workflows/evaluate.yml";

/** Workflow that evaluates a prompt of the repository on each pull request, and moves the baseline on main. */
export const WORKFLOW = `# Runs an experiment on each pull request and fails it when a condition of the gate fails.
# Repository settings: the variable HEDDLE_TRACE_URL, and the secret HEDDLE_API_KEY (heddle keys create).
name: Evaluate
${WORKFLOW_HEAD}

jobs:
  evaluate:
    runs-on: ubuntu-latest
    timeout-minutes: 60
    env:
      HEDDLE_TRACE_URL: \${{ vars.HEDDLE_TRACE_URL }}
      HEDDLE_API_KEY: \${{ secrets.HEDDLE_API_KEY }}
    steps:
      - uses: actions/checkout@v4
      - uses: actions/setup-node@v4
        with:
          node-version: 22
      # Commits the prompts of this branch under its own tag, so that the experiment runs what is reviewed.
      - run: npx --yes heddle prompts push --force --tag "ci-\${{ github.run_id }}" --message "\${{ github.sha }}"
      - run: >
          npx --yes heddle experiment run
          --dataset support-questions
          --target "prompt:support-answer@ci-\${{ github.run_id }}"
          --evaluator correctness
          --repetitions 2
          --name "\${{ github.ref_name }}-\${{ github.run_id }}-\${{ github.run_attempt }}"
          --gate "correctness>=0.8"
          --gate "error_rate<=1%"
          --gate "p95_latency<=10s"
          \${{ github.ref == 'refs/heads/main' && '--set-baseline' || '--gate "not_worse(correctness)"' }}
`;

/** @returns false when the file exists */
export function writeWorkflow(directory: string, force: boolean): boolean {
  const path = join(directory, WORKFLOW_PATH);
  if (existsSync(path) && !force) return false;
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, WORKFLOW);
  return true;
}
