import { packageEnvironment, projectInterpreter, pythonApp } from "../project/python-package.ts";
import { type HostLanguage, lifespanOf } from "./host-language.ts";

/**
 * Python hosts run with the project's interpreter.
 * @param configured interpreter that HEDDLE_PYTHON names
 * @param runsLifespan whether the lifespan of the project's Python app runs in each host, too
 */
export const pythonHosts = (configured: string | undefined, runsLifespan: boolean): HostLanguage => ({
  name: "python",
  async prepare(project) {
    const found = await projectInterpreter(project, configured);
    if ("problem" in found) return found;
    const { executable, python } = found.interpreter;
    const { dir, graphs, config } = project;
    const wanted = config.python_version;
    const lifespan = lifespanOf(project, "python");
    const app = runsLifespan ? pythonApp(project) : undefined;
    return {
      warning:
        wanted !== undefined && !python.startsWith(`${wanted}.`)
          ? `The project requires Python ${wanted}, but ${executable} is Python ${python}.`
          : undefined,
      launch: {
        command: executable,
        // a crash in native code prints where it happened
        args: () => ["-X", "faulthandler", "-m", "heddle_host"],
        usesDatabase: false,
        environment: packageEnvironment({ ...project.env, ...process.env }),
        project: { dir, dependencies: config.dependencies ?? [], graphs, lifespan, ...(app !== undefined && { app }) },
        hasLifespan: app !== undefined || lifespan.length > 0,
        canInterrupt: true,
        blockHint: "Await an asynchronous call, use asyncio.to_thread, or make the node a plain function.",
        mostMemoryMb: (memoryMb) => memoryMb,
      },
    };
  },
});
