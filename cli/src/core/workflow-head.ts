/** Part of the GitHub workflows that the CLI writes: they run on pull requests and on main, and only read the repository. */
export const WORKFLOW_HEAD = `on:
  pull_request:
  push:
    branches: [main]

permissions:
  contents: read`;
