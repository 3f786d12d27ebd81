import { packageEnvironment, projectInterpreter } from "../project/python-package.ts";
import type { HostLanguage } from "./host-language.ts";

/**
 * Python hosts run with the project's interpreter.
 * @param configured interpreter that HEDDLE_PYTHON names
 */
export const pythonHosts = (configured: string | undefined): HostLanguage => ({
  name: "python",
  async prepare(project) {
    const found = await projectInterpreter(project, configured);
    if ("problem" in found) return found;
    const { executable, python } = found.interpreter;
    const { dir, graphs, config } = project;
    const wanted = config.python_version;
    return {
      warning:
        wanted !== undefined && !python.startsWith(`${wanted}.`)
          ? `The project requires Python ${wanted}, but ${executable} is Python ${python}.`
          : undefined,
      launch: {
        command: executable,
        // a crash in native code prints where it happened
        args: () => ["-X", "faulthandler", "-m", "heddle_host"],
        environment: packageEnvironment({ ...project.env, ...process.env }),
        project: { dir, dependencies: config.dependencies ?? [], graphs },
        canInterrupt: true,
        blockHint: "Await an asynchronous call, use asyncio.to_thread, or make the node a plain function.",
        mostMemoryMb: (memoryMb) => memoryMb,
      },
    };
  },
});
