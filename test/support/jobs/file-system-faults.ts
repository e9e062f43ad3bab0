/**
 * The begin of a script that is killed, or fails, at the n-th step it takes on the file system. Its last arguments are
 * whether there are hard links (`yes`, `no`), n, and the manner: `kill`, `from then on` for every step after it too,
 * anything else for this one. The script then has `given`, the arguments before these, and ends with `failAtStepEpilogue`.
 */
export const failAtStepScript = `
import fsp from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
const given = process.argv.slice(2);
const [links, deadly, manner] = given.splice(-3);
let steps = 0;
for (const name of ["open", "link", "rename", "rm", "unlink", "writeFile"]) {
  const original = fsp[name];
  fsp[name] = (...args) => {
    const due = manner === "from then on" ? steps >= Number(deadly) : steps === Number(deadly);
    if (due && manner === "kill") process.kill(process.pid, "SIGKILL");
    steps += 1;
    if (due) return Promise.reject(Object.assign(new Error("broken"), { code: "EIO" }));
    if (name === "link" && links === "no") {
      return Promise.reject(Object.assign(new Error("no links here"), { code: "EPERM" }));
    }
    return original(...args);
  };
}
syncBuiltinESMExports();
`;

/** Ends with 77 where there was no such step. */
export const failAtStepEpilogue = "if (steps <= Number(deadly)) process.exitCode = 77;";
