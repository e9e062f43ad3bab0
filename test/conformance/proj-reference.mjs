/** PROJ's own answers: a process of its library (proj-reference.py), and a file that keeps what it said. */
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

/** `PROJ_PYTHON` names the Python that finds a newer PROJ than the machine's, as one of another installation does. */
const python = process.env.PROJ_PYTHON || "/usr/bin/python3";

const script = fileURLToPath(new URL("proj-reference.py", import.meta.url));

/**
 * A process that answers by the PROJ library, one request after the other.
 * @param library `libproj.so` and @param database `proj.db` of another PROJ than the machine's; its library's own
 *   libraries are looked for beside it
 * @param grids a folder of grids that it should use; none by default
 */
export function projReference(library = "", database = "", grids = "") {
  const beside = library === "" ? {} : { LD_LIBRARY_PATH: dirname(library) };
  const env = { ...process.env, ...beside };
  const start = () => {
    const child = spawn(python, [script, library, database, grids], { env, stdio: ["pipe", "pipe", "ignore"] });
    child.stdin.on("error", () => {});
    return { child, answers: createInterface({ input: child.stdout })[Symbol.asyncIterator]() };
  };
  let running = start();
  let answered = 0;
  return {
    async ask(request) {
      running.child.stdin.write(`${JSON.stringify(request)}\n`);
      const { value, done } = await running.answers.next();
      if (!done) {
        answered++;
        return JSON.parse(value);
      }
      if (answered === 0) throw new Error("PROJ's library cannot be asked: python3 or libproj is missing");
      // A database newer than the library makes it abort at what it does not know.
      running = start();
      return { error: "PROJ's library gave up" };
    },
    close: () => running.child.stdin.end(),
  };
}

/**
 * Answers kept in a file for each version of PROJ, of its database and of the questions, so that a run goes on where the
 * last one stopped, and one after a change of ours asks nothing again.
 */
export function keptAnswers({ proj, epsg }) {
  const questions = createHash("sha256").update(readFileSync(script)).digest("hex").slice(0, 8);
  const path = join(tmpdir(), `geoferry-proj-${proj}-${epsg}-${questions}.jsonl`);
  const known = new Map();
  const lines = existsSync(path) ? readFileSync(path, "utf8").split("\n") : [];
  // What stands behind the last end of a line was cut off when a run was stopped.
  if (lines.pop()) appendFileSync(path, "\n");
  for (const line of lines) {
    const end = line.indexOf("\t");
    try {
      known.set(line.slice(0, end), JSON.parse(line.slice(end + 1)));
    } catch {
      // Asked again.
    }
  }
  return {
    path,
    size: known.size,
    /** A process that is asked only what is not known yet. */
    before: ({ ask, close }) => ({
      async ask(request) {
        const key = JSON.stringify(request);
        const kept = known.get(key);
        if (kept !== undefined) return kept;
        const answer = await ask(request);
        appendFileSync(path, `${key}\t${JSON.stringify(answer)}\n`);
        return answer;
      },
      close,
    }),
  };
}
