import { expect, test } from "vitest";

import { testControlPlane } from "../../../test/control-plane.ts";
import { createArchive, createDeployment, deployArchive, untilStatus, upload } from "../../../test/deploy.ts";

const { call, sql } = await testControlPlane();

const GOOD = {
  name: "one",
  source: "internal_source",
  source_config: {},
  source_revision_config: {},
  secrets: [],
};
const UNKNOWN = "00000000-0000-7000-8000-0000000000ff";
let count = 0;
const name = () => `made-${++count}`;

test.each<[string, object, (string | number)[], string, string]>([
  ["no name", { name: undefined }, ["body", "name"], "missing", "Field required"],
  ["no secrets", { secrets: undefined }, ["body", "secrets"], "missing", "Field required"],
  ["an uppercase name", { name: "My_App" }, ["body", "name"], "value_error", "Value error"],
  ["an unknown source", { source: "ftp" }, ["body", "source"], "literal_error", "'github', 'external_docker'"],
  ["a numeric name", { name: 1 }, ["body", "name"], "string_type", "valid string"],
  [
    "two different config paths",
    { source_revision_config: { langgraph_config_path: "a.json", graph_config_path: "b.json" } },
    ["body", "source_revision_config", "graph_config_path"],
    "value_error",
    "differs",
  ],
  [
    "a tarball without a path",
    { source_revision_config: { source_tarball_path: "tarballs/x" } },
    ["body", "source_revision_config", "langgraph_config_path"],
    "value_error",
    "required",
  ],
  [
    "a tarball path that was not issued",
    { source_revision_config: { source_tarball_path: "/etc/passwd", langgraph_config_path: "langgraph.json" } },
    ["body", "source_revision_config", "source_tarball_path"],
    "value_error",
    "upload-url endpoint",
  ],
  [
    "a config path outside the project",
    { source_revision_config: { langgraph_config_path: "../langgraph.json" } },
    ["body", "source_revision_config", "langgraph_config_path"],
    "value_error",
    "inside the project",
  ],
  [
    "an image URI for an uploaded project",
    { source_revision_config: { image_uri: "a/b" } },
    ["body", "source_revision_config", "image_uri"],
    "value_error",
    "docker",
  ],
  [
    "a branch for an uploaded project",
    { source_revision_config: { repo_ref: "main" } },
    ["body", "source_revision_config", "repo_ref"],
    "value_error",
    "github",
  ],
  [
    "a commit",
    { source_revision_config: { repo_commit_sha: "abc" } },
    ["body", "source_revision_config", "repo_commit_sha"],
    "value_error",
    "read-only",
  ],
  [
    "build_on_push for a source other than github",
    { source_config: { build_on_push: true } },
    ["body", "source_config", "build_on_push"],
    "value_error",
    "only valid for GitHub",
  ],
  [
    "a tag with build_on_push",
    {
      source: "github",
      source_config: { repo_url: "https://git.example/a.git", build_on_push: true },
      source_revision_config: { repo_ref: "refs/tags/v1", langgraph_config_path: "langgraph.json" },
    },
    ["body", "source_config", "build_on_push"],
    "value_error",
    "tag",
  ],
  [
    "a repository without a reference",
    { source: "github", source_config: { repo_url: "https://git.example/a.git" } },
    ["body", "source_revision_config", "repo_ref"],
    "value_error",
    "required",
  ],
  [
    "an image without resources",
    { source: "external_docker", source_revision_config: { image_uri: "a/b" } },
    ["body", "source_config", "resource_spec"],
    "value_error",
    "required",
  ],
  [
    "a config path for an image",
    {
      source: "external_docker",
      source_config: { resource_spec: {} },
      source_revision_config: { image_uri: "a/b", langgraph_config_path: "langgraph.json" },
    },
    ["body", "source_revision_config", "langgraph_config_path"],
    "value_error",
    "internal_source",
  ],
  [
    "a custom URL for an uploaded project",
    { source_config: { custom_url: "https://a.example" } },
    ["body", "source_config", "custom_url"],
    "value_error",
    "can only be set for the source external_docker",
  ],
  ...["javascript:alert(1)", "data:text/html,x", "https://a@b.example", "agents", "//a.example"].map(
    (url): [string, object, (string | number)[], string, string] => [
      `the custom URL ${url}`,
      {
        source: "external_docker",
        source_config: { resource_spec: {}, custom_url: url },
        source_revision_config: { image_uri: "a/b" },
      },
      ["body", "source_config", "custom_url"],
      "value_error",
      "http or https URL",
    ],
  ),
  [
    "a pipe in a command",
    { source_config: { install_command: "curl x | sh" } },
    ["body", "source_config", "install_command"],
    "value_error",
    "pipes",
  ],
  [
    "a minimum scale above the maximum",
    { source_config: { resource_spec: { min_scale: 3, max_scale: 2 } } },
    ["body", "source_config", "resource_spec", "max_scale"],
    "value_error",
    "less than min_scale",
  ],
  [
    "too many CPUs",
    { source_config: { resource_spec: { cpu: 99 } } },
    ["body", "source_config", "resource_spec", "cpu"],
    "less_than_equal",
    "less than or equal to 8",
  ],
  ["a template", { source: "internal_template" }, ["body", "source"], "value_error", "not supported"],
  ...["queue_min_scale", "queue_cpu", "redis_memory_mb", "db_storage_gi", "db_max_connections", "orchestrator_cpu"].map(
    (field): [string, object, (string | number)[], string, string] => [
      `${field}, which has no meaning here`,
      { source_config: { resource_spec: { [field]: 1 } } },
      ["body", "source_config", "resource_spec", field],
      "value_error",
      `${field} is not supported`,
    ],
  ),
  [
    "servers that start on demand",
    { source_config: { deployment_type: "dev_zero", resource_spec: { min_scale: 0, max_scale: 2 } } },
    ["body", "source_config", "resource_spec", "min_scale"],
    "value_error",
    "do not start on demand",
  ],
  [
    "a minimum scale of 0, with no maximum",
    { source_config: { deployment_type: "dev_free_zero", resource_spec: { min_scale: 0 } } },
    ["body", "source_config", "resource_spec", "min_scale"],
    "value_error",
    "do not start on demand",
  ],
  [
    "a maximum scale of 0",
    { source_config: { resource_spec: { max_scale: 0 } } },
    ["body", "source_config", "resource_spec", "max_scale"],
    "value_error",
    "less than min_scale",
  ],
  [
    "a repository without a path of its langgraph.json",
    {
      source: "github",
      source_config: { repo_url: "https://github.com/a/b", build_on_push: false },
      source_revision_config: { repo_ref: "main" },
    },
    ["body", "source_revision_config", "langgraph_config_path"],
    "value_error",
    "is required for sources that are built",
  ],
  ...["external_docker", "internal_docker", "github"].map(
    (source): [string, object, (string | number)[], string, string] => [
      `an uploaded archive for the source ${source}`,
      {
        source,
        source_config:
          source === "github" ? { repo_url: "https://github.com/a/b", build_on_push: false } : { resource_spec: {} },
        source_revision_config: {
          ...(source === "github"
            ? { repo_ref: "main", langgraph_config_path: "langgraph.json" }
            : { image_uri: "registry.example/a:1" }),
          source_tarball_path: "uploads/a.tar.gz",
        },
      },
      ["body", "source_revision_config", "source_tarball_path"],
      "value_error",
      "is only valid for the source internal_source",
    ],
  ),
  [
    "a reserved secret name",
    { secrets: [{ name: "DATABASE_URI", value: "x" }] },
    ["body", "secrets", 0, "name"],
    "value_error",
    "reserved",
  ],
  [
    "a secret with a HEDDLE_ name",
    { secrets: [{ name: "HEDDLE_AUTH", value: "off" }] },
    ["body", "secrets", 0, "name"],
    "value_error",
    "reserved",
  ],
  [
    "a duplicate secret name",
    {
      secrets: [
        { name: "A", value: "1" },
        { name: "A", value: "2" },
      ],
    },
    ["body", "secrets", 1, "name"],
    "value_error",
    "is given twice",
  ],
])("rejects a deployment with %s with 422, the field and the reason", async (_, change, loc, type, text) => {
  const { status, json } = await call("POST", "/v2/deployments", { ...GOOD, name: name(), ...change });
  expect(status).toBe(422);
  expect(json.detail).toContainEqual({ loc, type, msg: expect.stringContaining(text) });
  expect(await sql`select 1 from deployments where name like 'made-%'`).toEqual([]);
});

test("invalid bodies, ids and limits are 422 in the same shape", async () => {
  const broken = await call("POST", "/v2/deployments", "{");
  expect([broken.status, broken.json.detail[0].type]).toEqual([422, "json_invalid"]);
  const id = await call("GET", "/v2/deployments/me");
  expect([id.status, id.json.detail[0]]).toEqual([
    422,
    { loc: ["path", "deployment_id"], type: "uuid_parsing", msg: expect.stringContaining("UUID") },
  ]);
  const limit = await call("GET", "/v2/deployments?limit=101");
  expect([limit.status, limit.json.detail[0].type]).toEqual([422, "less_than_equal"]);
  expect(limit.json.detail[0].loc).toEqual(["query", "limit"]);
});

test("an unknown deployment is 404 with its id, under both prefixes", async () => {
  for (const prefix of ["", "/api-host"]) {
    const path = `${prefix}/v2/deployments/${UNKNOWN}`;
    for (const [method, rest, body] of [
      ["GET", "", undefined],
      ["PATCH", "", {}],
      ["DELETE", "", undefined],
      ["GET", "/revisions", undefined],
      ["POST", "/upload-url", undefined],
      ["POST", "/push-token", undefined],
    ] as const) {
      const { status, json } = await call(method, path + rest, body);
      expect([status, json]).toEqual([404, { detail: `Deployment ID ${UNKNOWN} not found.` }]);
    }
  }
  const id = await createDeployment(call, name());
  const { status, json } = await call("GET", `/v2/deployments/${id}/revisions/${UNKNOWN}`);
  expect([status, json.detail.includes(id)]).toEqual([404, true]);
  expect((await call("POST", `/deployments/${id}/upload-url`)).status).toBe(200);
  const document = await call("GET", "/openapi.json");
  expect(document.json.info.version).toBe("0.1.0");
});

test("the cloud rejects external images, and a duplicate name is a conflict", async () => {
  const cloud = await testControlPlane({ HEDDLE_INSTALLATION: "cloud" });
  const image = {
    ...GOOD,
    source: "external_docker",
    source_config: { resource_spec: {} },
    source_revision_config: { image_uri: "a/b" },
  };
  const rejected = await cloud.call("POST", "/v2/deployments", { ...image, name: name() });
  expect([rejected.status, rejected.json.detail[0].loc]).toEqual([422, ["body", "source"]]);
  const here = await call("POST", "/v2/deployments", { ...image, name: name() });
  expect([here.status, here.json.detail]).toEqual([400, expect.stringContaining("driver")]);
  await cloud.stop();

  const existing = name();
  await createDeployment(call, existing);
  const again = await call("POST", "/v2/deployments", { ...GOOD, name: existing });
  expect([again.status, again.json.detail]).toEqual([400, `Deployment with name '${existing}' already exists.`]);
});

test("an internal image deployment is created without a revision, and its push token needs a driver", async () => {
  const created = await call("POST", "/v2/deployments", { ...GOOD, name: name(), source: "internal_docker" });
  expect([created.status, created.json.latest_revision_id]).toEqual([201, null]);
  expect((await call("POST", `/v2/deployments/${created.json.id}/push-token`)).status).toBe(400);
  const other = await createDeployment(call, name());
  const token = await call("POST", `/v2/deployments/${other}/push-token`);
  expect(token.status).toBe(400);
  expect(token.json.detail).toContain("only available for 'internal_docker' source deployments");
});

test("search lists an exact name first, then newer ones, in pages", async () => {
  await createDeployment(call, "search");
  for (let n = 0; n < 3; n++) await createDeployment(call, `search-${n}`);
  const found = await call("GET", "/v2/deployments?name_contains=search&limit=2");
  expect(found.json.resources.map((resource: { name: string }) => resource.name)).toEqual(["search", "search-2"]);
  expect(found.json.offset).toBe(2);
  const next = await call("GET", "/v2/deployments?name_contains=search&limit=2&offset=2");
  expect(next.json.resources.map((resource: { name: string }) => resource.name)).toEqual(["search-1", "search-0"]);
  const exact = await call("GET", "/v2/deployments?name=search");
  expect(exact.json.resources).toHaveLength(1);
  expect((await call("GET", "/v2/deployments?name_contains=")).json.resources.length).toBeGreaterThan(3);
});

test("uploads need a signed URL, work once, and accept only gzip below the size limit", async () => {
  const small = await testControlPlane({ HEDDLE_UPLOAD_MAX_BYTES: "2000" });
  const id = await createDeployment(small.call, name());
  const target = async () => new URL((await small.call("POST", `/v2/deployments/${id}/upload-url`)).json.upload_url);
  const put = async (url: URL, body: Uint8Array) => (await small.call("PUT", url.pathname + url.search, body)).status;
  const archive = createArchive({ a: "1" });
  const url = await target();
  const forged = new URL(url);
  forged.searchParams.set("sig", "x".repeat(43));
  expect(await put(forged, archive)).toBe(403);
  const other = new URL(url);
  other.pathname = other.pathname.replace(/[0-9a-f]{12}\.tar/, "000000000000.tar");
  expect(await put(other, archive)).toBe(403);
  const late = new URL(url);
  late.searchParams.set("exp", "1000");
  expect(await put(late, archive)).toBe(403);
  expect(await put(url, Buffer.from("no gzip at all"))).toBe(400);
  expect(await put(url, new Uint8Array(5000).fill(0x1f))).toBe(413);
  expect(await put(url, archive)).toBe(200);
  expect(await put(url, archive)).toBe(409);
  await small.stop();
});

test("clear_secrets removes all secrets, and an empty list changes nothing", async () => {
  const id = await createDeployment(call, name(), [{ name: "A", value: "1" }]);
  const path = `/v2/deployments/${id}`;
  const names = async () => (await call("GET", path)).json.secrets.map((secret: { name: string }) => secret.name);
  expect((await call("PATCH", path, { secrets: [] })).status).toBe(200);
  expect(await names()).toEqual(["A"]);
  expect((await call("PATCH", path, { secrets: [], clear_secrets: true })).status).toBe(200);
  expect(await names()).toEqual([]);
  expect((await call("PATCH", path, { secrets: [{ name: "B", value: "2" }], clear_secrets: true })).status).toBe(200);
  expect(await names()).toEqual(["B"]);
  expect((await call("PATCH", path, { clear_secrets: "yes" })).status).toBe(422);
  // on a deployment with a revision, it creates another one
  const first = await deployArchive(call, id, createArchive({ "readme.md": "no project" }));
  await untilStatus(call, id, first, "BUILD_FAILED");
  const { json } = await call("PATCH", path, { clear_secrets: true });
  expect(json.latest_revision_id).not.toBe(first);
  expect(json.secrets).toEqual([]);
  await untilStatus(call, id, json.latest_revision_id, "BUILD_FAILED");
});

test("a masked value without a stored one is rejected, not stored", async () => {
  const masked = (name: string) => ({ name, value: "********" });
  const body = { ...GOOD, name: name(), secrets: [{ name: "OLD", value: "a" }] };
  const refused = await call("POST", "/v2/deployments", { ...body, secrets: [masked("OLD")] });
  expect([refused.status, refused.text]).toEqual([422, expect.stringContaining("OLD has a masked value")]);
  const { id } = (await call("POST", "/v2/deployments", body)).json;
  const change = (secrets: object[]) => call("PATCH", `/v2/deployments/${id}`, { secrets });
  // as a form sends a variable that was renamed
  const renamed = await change([masked("NEW")]);
  expect([renamed.status, renamed.text]).toEqual([400, expect.stringContaining("NEW has a masked value")]);
  expect((await change([masked("OLD"), { name: "NEW", value: "b" }])).json.secrets).toEqual([
    masked("OLD"),
    masked("NEW"),
  ]);
});

test("a revision names the variables and resources that it was made from, and no values", async () => {
  const id = await createDeployment(call, name(), [{ name: "KEY", value: "value-1" }]);
  const path = `/v2/deployments/${id}`;
  const first = await deployArchive(call, id, createArchive({ "readme.md": "no project" }));
  await untilStatus(call, id, first, "BUILD_FAILED");
  const secrets = [
    { name: "KEY", value: "value-2" },
    { name: "NEW", value: "value-3" },
  ];
  const changed = (await call("PATCH", path, { secrets, source_config: { install_command: "pnpm install" } })).json;
  await untilStatus(call, id, changed.latest_revision_id, "BUILD_FAILED");
  await call("POST", `${path}/revisions/${first}/redeploy`);
  const { resources } = (await call("GET", `${path}/revisions`)).json;
  expect(resources.map(({ made_from }: { made_from: object }) => made_from)).toMatchObject([
    { variables: ["KEY"], variable_changes: { added: [], changed: ["KEY"], removed: ["NEW"] }, install_command: null },
    {
      variables: ["KEY", "NEW"],
      variable_changes: { added: ["NEW"], changed: ["KEY"], removed: [] },
      install_command: "pnpm install",
    },
    { variables: ["KEY"], variable_changes: { added: ["KEY"], changed: [], removed: [] } },
  ]);
  expect(JSON.stringify(resources)).not.toContain("value-");
  const steps = resources.map(({ number, created_by, redeploy_of }: Record<string, unknown>) => [
    number,
    created_by,
    redeploy_of,
  ]);
  expect(steps).toEqual([
    [3, "a test", first],
    [2, "a test", null],
    [1, "a test", null],
  ]);
  expect(Date.parse(resources[2].finished_at)).toBeGreaterThan(Date.parse(resources[2].created_at));
  await untilStatus(call, id, resources[0].id, "BUILD_FAILED");
  expect((await call("GET", path)).json).toMatchObject({
    latest_revision_number: 3,
    latest_revision_message: expect.stringContaining("langgraph.json"),
    active_revision_number: null,
  });
});

test("vendor-only endpoints name the alternative, and a link printed by the vendor's CLI redirects to the console", async () => {
  const id = await createDeployment(call, name());
  for (const prefix of ["", "/api-host"]) {
    const detail = async (method: string, path: string) => {
      const { status, json } = await call(method, prefix + path, method === "GET" ? undefined : {});
      expect(status).toBe(404);
      return json.detail;
    };
    expect(await detail("PATCH", `/v2/deployments/${id}/resource-tiers`)).toContain("source_config.resource_spec");
    expect(await detail("PATCH", `/v2/deployments/${id}/deployment-tier`)).toContain("source_config.resource_spec");
    expect(await detail("GET", "/v2/auth/providers")).toContain("does not implement the OAuth token service");
    expect(await detail("GET", "/v2/authors")).toBe("404 Not Found");
    const shown = await call("GET", `${prefix}/o/${UNKNOWN}/host/deployments/${id}`);
    expect([shown.status, shown.headers.get("location")]).toEqual([302, `http://localhost:3000/deployments/${id}`]);
  }
});

test("an update creates at most one revision, keeps omitted fields, and rejects immutable ones", async () => {
  const id = await createDeployment(call, name(), [{ name: "A", value: "1" }]);
  const path = `/v2/deployments/${id}`;
  const patch = (body: object) => call("PATCH", path, body);
  const revisions = async () => (await call("GET", `${path}/revisions`)).json.resources.length;
  expect((await patch({ display_name: "Shown", secrets: [] })).json).toMatchObject({ display_name: "Shown" });
  expect((await patch({ display_name: "" })).status).toBe(422);
  expect(await revisions()).toBe(0);

  const first = await deployArchive(call, id, createArchive({ "readme.md": "no project" }), {
    secrets: [
      { name: "A", value: "********" },
      { name: "B", value: "2" },
    ],
  });
  expect(await revisions()).toBe(1);
  await untilStatus(call, id, first, "BUILD_FAILED");
  const { json: listed } = await call("GET", `${path}/revisions?status=BUILD_FAILED`);
  expect(listed.resources[0].source_revision_config).toMatchObject({
    langgraph_config_path: "langgraph.json",
    graph_config_path: "langgraph.json",
  });
  expect((await patch({ source_config: { build_on_push: false } })).status).toBe(200);
  expect(await revisions()).toBe(1);
  expect((await patch({ secrets: [{ name: "C", value: "3" }] })).json.latest_revision_id).not.toBe(first);
  expect(await revisions()).toBe(2);

  for (const body of [{ name: "other" }, { source: "github" }, { source_config: { deployment_type: "prod" } }]) {
    const { status, json } = await patch(body);
    expect([status, json.detail]).toEqual([400, expect.stringContaining("cannot be changed")]);
  }
  expect((await patch({ source_config: { deployment_type: "dev" } })).status).toBe(200);
  const stolen = await upload(call, await createDeployment(call, name()), createArchive({}));
  const stolenSource = { source_tarball_path: stolen, langgraph_config_path: "langgraph.json" };
  expect((await patch({ source_revision_config: stolenSource })).status).toBe(422);

  const always = await call("POST", `${path}/revisions`, { source_config: { install_command: "true" } });
  expect([always.status, always.json.status]).toEqual([201, expect.stringMatching(/CREATING|QUEUED|AWAITING_BUILD/)]);
  const stored = await sql`select ciphertext from secrets where purpose = 'revision-env'`;
  expect(stored.some(({ ciphertext }) => String(ciphertext).includes("********"))).toBe(false);
});

test("a change of the path of langgraph.json alone creates a revision, by either name and by null not", async () => {
  const id = await createDeployment(call, name());
  const path = `/v2/deployments/${id}`;
  const change = (config: object) => call("PATCH", path, { source_revision_config: config });
  const first = await deployArchive(call, id, createArchive({ "readme.md": "no project" }));
  await untilStatus(call, id, first, "BUILD_FAILED");
  let latest = first;
  for (const field of ["graph_config_path", "langgraph_config_path"]) {
    const { status, json } = await change({ [field]: `${field}/langgraph.json` });
    expect([field, status, json.latest_revision_id === latest]).toEqual([field, 200, false]);
    latest = json.latest_revision_id;
    const { json: revision } = await call("GET", `${path}/revisions/${latest}`);
    expect(revision.source_revision_config).toMatchObject({
      graph_config_path: `${field}/langgraph.json`,
      langgraph_config_path: `${field}/langgraph.json`,
    });
  }
  const unchanged = await change({ graph_config_path: null, langgraph_config_path: null });
  expect(unchanged.json.latest_revision_id).toBe(latest);
});

test("an uploaded archive belongs to the source internal_source, in a change too", async () => {
  const id = await createDeployment(call, name());
  const tarball = await upload(call, id, createArchive({ "readme.md": "no project" }));
  for (const source of ["internal_docker", "github"]) {
    const { status, json } = await call("PATCH", `/v2/deployments/${id}`, {
      revision_source: source,
      source_revision_config: { source_tarball_path: tarball },
    });
    expect([source, status, json.detail]).toEqual([
      source,
      422,
      [
        {
          type: "value_error",
          loc: ["body", "source_revision_config", "source_tarball_path"],
          msg: expect.stringContaining("is only valid for the source internal_source"),
        },
      ],
    ]);
  }
});

test("a bulk delete deletes known deployments and reports unknown ones", async () => {
  const ids = [await createDeployment(call, name()), await createDeployment(call, name())];
  const query = (all: string[]) => all.map((id) => `deployment_ids=${id}`).join("&");
  const some = await call("DELETE", `/v2/deployments?${query([...ids, UNKNOWN])}`);
  expect([some.status, some.json.deleted, some.json.failed.map((failure: { id: string }) => failure.id)]).toEqual([
    207,
    ids,
    [UNKNOWN],
  ]);
  expect((await call("DELETE", `/v2/deployments?${query([UNKNOWN])}`)).status).toBe(404);
});
