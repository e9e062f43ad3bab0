import { expect } from "vitest";
import type { CommandResult } from "../command.js";

/** An installed geoferry, run to its end in one folder. */
export type Run = (args: readonly string[], options?: { input?: string; env?: NodeJS.ProcessEnv }) => CommandResult;

/**
 * The first steps with a running service: an account, a map and credentials; a push of the sample capitals, which is
 * undone, and a pull.
 * @param data flags of `admin` with the location of the store
 * @param paths the input, the backup and the pulled file, as the command line gets them
 */
export function checkFirstSync(
  run: Run,
  url: string,
  data: readonly string[],
  paths: { capitals: string; backup: string; pulled: string; state: string },
): void {
  const admin = (args: string[], input = ""): Record<string, string> => {
    const { status, stdout, stderr } = run(["admin", ...args, ...data, "--json"], { input });
    expect(stderr).toBe("");
    expect(status).toBe(0);
    return JSON.parse(stdout);
  };
  admin(["user", "add", "ada@example.org"], "a quiet harbour\n");
  const { id: map } = admin(["map", "add", "Capitals", "--owner", "ada@example.org"]);
  const credential = admin(["credential", "add", "--owner", "ada@example.org"]);
  const env = {
    GEOFERRY_URL: url,
    GEOFERRY_CLIENT_ID: credential.client_id,
    GEOFERRY_CLIENT_SECRET: credential.client_secret,
    GEOFERRY_STATE: paths.state,
  };
  const geoferry = (...args: string[]): string => {
    const { status, stdout, stderr } = run(args, { env });
    expect(status, stdout + stderr).toBe(0);
    return stdout + stderr;
  };
  const push = ["push", paths.capitals, "--map", map!, "--mode", "full"];
  expect(geoferry(...push, "--backup", paths.backup)).toContain("created 195, updated 0, deleted 0");
  expect(geoferry(...push)).toContain("nothing to do");
  expect(geoferry("verify", paths.capitals, "--map", map!, "--exit-code")).toContain("195");
  geoferry("pull", paths.pulled, "--map", map!);
  expect(geoferry("info", paths.pulled)).toContain("195");
  expect(geoferry("restore", paths.backup, "--max-delete", "195")).toContain("deleted 195");
}
