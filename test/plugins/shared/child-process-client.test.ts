import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { ChildProcessClient } from "../../../plugins/shared/child-process-client.js";

const folder = mkdtempSync(join(tmpdir(), "geoferry-asked-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

interface Reply {
  readonly kind: "who" | "hang";
  readonly pid: number;
}

/** A process that replies with its pid, or with that of a child that keeps its stderr open, or never replies. */
function start(name: string, program: string) {
  const path = join(folder, name);
  writeFileSync(path, program);
  const limits = { heap: 64, memory: 1024, memoryOption: "memory", signal: new AbortController().signal };
  return new ChildProcessClient<{ kind: "who" | "hang" }, Reply>({ path, label: "it", seconds: 20, ...limits });
}
const answering = `process.on("message", ({ kind }) => kind === "who" && process.send({ kind, pid: process.pid }));`;

const isRunning = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};

describe("a process that is asked", () => {
  it("is gone when it is closed, however often", async () => {
    const asked = start("answering.mjs", answering);
    const { pid } = await asked.ask({ kind: "who" });
    expect(isRunning(pid)).toBe(true);
    await Promise.all([asked.close(), asked.close()]);
    expect(isRunning(pid)).toBe(false);
    await asked.close();
    await expect(asked.ask({ kind: "who" })).rejects.toThrow("SIGKILL");
  });

  it("is gone when a question is given up because it was closed", async () => {
    const asked = start("hanging.mjs", answering);
    const { pid } = await asked.ask({ kind: "who" });
    const question = asked.ask({ kind: "hang" });
    question.catch(() => undefined);
    await asked.close();
    expect(isRunning(pid)).toBe(false);
    await expect(question).rejects.toThrow("it ended with SIGKILL");
  });

  it("is not waited for until others have closed its standard error", async () => {
    const asked = start(
      "leaving.mjs",
      `import { spawn } from "node:child_process";
const other = spawn(process.execPath, ["-e", "setTimeout(() => {}, 20_000)"], { stdio: ["ignore", "ignore", "inherit"] });
process.on("message", ({ kind }) => process.send({ kind, pid: other.pid }));`,
    );
    const { pid } = await asked.ask({ kind: "who" });
    const began = performance.now();
    await asked.close();
    expect(performance.now() - began).toBeLessThan(3000);
    process.kill(pid, "SIGKILL");
  });
});
