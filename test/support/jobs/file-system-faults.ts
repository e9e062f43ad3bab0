/**
 * Start of a script that is killed, or fails, at its n-th file system operation. Its last arguments are whether hard
 * links are supported (`yes`, `no`), n, and the kind of fault: `kill`, `from then on` for all later operations as well,
 * anything else for this one only. The script can use `given`, the preceding arguments, and must end with
 * `failAtStepEpilogue`.
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

/** Exits with 77 if there was no such operation. */
export const failAtStepEpilogue = "if (steps <= Number(deadly)) process.exitCode = 77;";
