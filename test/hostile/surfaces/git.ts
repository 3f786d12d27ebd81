/** Git repositories with hostile trees, links, submodules, attributes, names of branches and answers of their hosts. */
import fc from "fast-check";

import type { Pieces } from "../pieces.ts";
import { encodePieces } from "../pieces.ts";
import { type Outcome, type Session, sendStep, type Surface } from "../surface.ts";
import { findEscape, untilEnded } from "./uploads.ts";

interface GitInput {
  files: Record<string, string | { link: string }>;
  branch: string;
  /** What is asked for; null: the branch. */
  ref: string | null;
  /** In place of Git's own answer to the n-th request. */
  instead: { n: number; status: number; headers: Record<string, string>; body: Pieces } | null;
}

const FILES: Record<string, (string | { link: string })[]> = {
  "langgraph.json": ['{"graphs":{"a":"./graph.mjs:graph"}}', "{", "{}"],
  ".gitmodules": [
    '[submodule "x"]\n\tpath = x\n\turl = file:///etc\n',
    '[submodule "../../x"]\n\tpath = ../../x\n\turl = --upload-pack=touch /tmp/heddle-escaped\n',
    '[submodule "x"]\n\tpath = -c\n\turl = ext::sh -c touch% /tmp/heddle-escaped\n',
  ],
  ".gitattributes": ["* filter=x\n", "* export-subst\n", "x working-tree-encoding=UTF-16\n", "* text eol=crlf\n"],
  ".lfsconfig": ["[lfs]\n\turl = file:///etc\n"],
  link: [{ link: "/etc/passwd" }, { link: "../.." }, { link: "link" }, { link: "." }, { link: "a" }],
  "a/link": [{ link: "../../../x" }, { link: "../a" }],
  [`${"d/".repeat(60)}deep`]: ["x"],
  "n\nl": ["x"],
  "-rf": ["x"],
  é: ["x"],
  ".git-x/config": ["[core]\n\tfsmonitor = touch /tmp/heddle-escaped\n"],
  "x.tar.gz": ["x".repeat(100_000)],
};
const BRANCHES = ["main", "a/b/c", "-x", "é", "x".repeat(200), "refs/heads/x", "HEAD", "v1.0", "@{-1}", "a.lock"];
const REFS = [
  "main",
  "HEAD",
  "refs/heads/main",
  "refs/tags/x",
  "refs/pull/1/head",
  "0".repeat(40),
  "f".repeat(64),
  "--upload-pack=touch /tmp/heddle-escaped",
  "main:refs/heads/x",
  "main^{/x}",
  "main~1",
  "..",
  "*",
  "a b",
  "\u0000",
  "",
];

export const git: Surface<GitInput> = {
  name: "git",
  servers: ["control"],
  weight: 0.2,
  inputs() {
    const file = fc
      .constantFrom(...Object.keys(FILES))
      .chain((name) => fc.constantFrom(...FILES[name]!).map((content) => [name, content] as const));
    const inputs = fc.record({
      files: fc.array(file, { maxLength: 5 }).map((list) => Object.fromEntries(list)),
      branch: fc.oneof(
        { weight: 4, arbitrary: fc.constant("main") },
        { weight: 1, arbitrary: fc.constantFrom(...BRANCHES) },
      ),
      ref: fc.option(fc.constantFrom(...REFS), { freq: 3 }),
      instead: fc.option(
        fc.record({
          n: fc.nat(3),
          status: fc.constantFrom(200, 200, 301, 302, 401, 404, 500, 999),
          headers: fc.constantFrom<Record<string, string>>(
            {},
            { location: "file:///etc/passwd" },
            { location: "http://169.254.169.254/" },
            { "content-type": "application/x-git-upload-pack-advertisement" },
            { "content-type": "application/x-git-upload-pack-result" },
            { "www-authenticate": "Basic realm=x" },
            { "content-encoding": "gzip" },
          ),
          body: fc.constantFrom<Pieces>(
            [],
            ["x"],
            ["001e# service=git-upload-pack\n0000"],
            ["001e# service=git-upload-pack\n00000000"],
            [`001e# service=git-upload-pack\n0000003f${"0".repeat(40)} refs/heads/main\n0000`],
            [{ repeat: "001e# service=git-upload-pack\n", times: 100_000 }],
            ["000eversion 2\n0000"],
            [{ repeat: "ffff", times: 100_000 }],
            ["0008NAK\nPACK\0\0\0\u0002\xff\xff\xff\xff"],
            [{ repeat: `003f${"1".repeat(40)} refs/heads/x#\n`, times: 50_000 }],
          ),
        }),
        { freq: 2 },
      ),
    });
    return () => inputs;
  },
  run: deploy,
};

async function deploy({ files, branch, ref, instead }: GitInput, session: Session): Promise<Outcome> {
  const { world } = session;
  const host = await world.gitHost();
  const name = `r${crypto.randomUUID().slice(0, 8)}`;
  const repository = host.create(name);
  try {
    repository.commit(files as Record<string, string>, branch);
  } catch {
    // Git itself does not accept it
    return { label: "no repository" };
  }
  let asked = 0;
  host.replace(name, (_, response) => {
    if (!instead || asked++ !== instead.n) return false;
    response.on("error", () => {});
    response.writeHead(instead.status, instead.headers).end(encodePieces(instead.body));
    return true;
  });
  const ask = async (method: string, target: string, body?: unknown) => {
    const answer = await sendStep(
      { server: "control", caller: "key", method, target, ...(body !== undefined && { body: [JSON.stringify(body)] }) },
      session,
    );
    return { status: answer.status, text: answer.body.toString("utf8") };
  };
  const created = await ask("POST", "/v2/deployments", {
    name,
    source: "github",
    source_config: { repo_url: repository.url },
    source_revision_config: { repo_ref: ref ?? branch, langgraph_config_path: "langgraph.json" },
    secrets: [],
  });
  if (created.status !== 201) {
    return {
      label: `create ${created.status}`,
      problem:
        created.status >= 500 || created.status === 0 ? `a server error: ${created.status} ${created.text}` : undefined,
    };
  }
  const { id, latest_revision_id: revision } = JSON.parse(created.text) as Record<string, string>;
  try {
    const read = async () =>
      JSON.parse((await ask("GET", `/v2/deployments/${id}/revisions/${revision}`)).text) as Record<string, unknown>;
    const ended = await untilEnded(read);
    return { label: ended.status, problem: findEscape(world) ?? ended.problem };
  } finally {
    await ask("DELETE", `/v2/deployments/${id}`);
    host.replace(name, undefined);
  }
}
