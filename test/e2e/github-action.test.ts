/** The action for GitHub, with its sample workflow, as a runner executes them. */
import { execFileSync, spawnSync } from "node:child_process";
import { copyFileSync, cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { TemporaryFolder } from "../../src/testing/index.js";
import { ServiceProcess } from "../service/service-process.js";
import { geoferry, main, samples } from "../support/command.js";
import { nodeVersion } from "../support/node-versions.js";
import { packedPackage } from "../support/packed-package.js";
import { type Action, type JobResult, runWorkflow } from "../support/workflow-runner.js";

const scratch = new TemporaryFolder();
const sample = join(samples, "integrations/github-action");
const action = parse(readFileSync(join(sample, "action.yml"), "utf8")) as Action;
const origin = scratch.path("origin");
const data = scratch.path("data");
let service: ServiceProcess;
let url: string;
let node: string | null;

const git = (folder: string, ...args: string[]) =>
  execFileSync("git", ["-c", "user.name=Ada", "-c", "user.email=ada@example.org", ...args], {
    cwd: folder,
    stdio: "pipe",
  });

/** Creates a branch of the repository with one changed file, and the merge that a pull request offers to runners. */
function openPullRequest(number: number, source: string): void {
  git(origin, "checkout", "--quiet", "-b", `change-${number}`, "main");
  copyFileSync(source, join(origin, "data/parks.geojson"));
  git(origin, "commit", "--quiet", "--all", "--message", "Change parks");
  git(origin, "checkout", "--quiet", "--detach", "main");
  git(origin, "merge", "--quiet", "--no-ff", "--message", "Merge", `change-${number}`);
  git(origin, "update-ref", `refs/pull/${number}/merge`, "HEAD");
}

beforeAll(async () => {
  node = await nodeVersion(24);
  const tarball = packedPackage();
  service = await ServiceProcess.start(["--data", data]);
  ({ url } = JSON.parse(service.stdout.split("\n", 1)[0]!) as { url: string });

  mkdirSync(join(origin, "data"), { recursive: true });
  mkdirSync(join(origin, ".github/workflows"), { recursive: true });
  cpSync(sample, join(origin, "samples/integrations/github-action"), { recursive: true });
  const manifest = join(origin, "samples/integrations/github-action/action.yml");
  writeFileSync(manifest, readFileSync(manifest, "utf8").replace("default: latest", `default: ${tarball}`));
  const workflow = readFileSync(join(sample, "pull-request.yaml"), "utf8");
  writeFileSync(join(origin, ".github/workflows/data.yaml"), workflow.replace("https://maps.example.org", url));
  copyFileSync(join(samples, "parks.geojson"), join(origin, "data/parks.geojson"));
  git(origin, "init", "--quiet", "--initial-branch=main");
  git(origin, "add", ".");
  git(origin, "commit", "--quiet", "--message", "Add parks");
  // A member of a geometry that GeoJSON does not name: sound, and lost in a GeoPackage.
  writeFileSync(
    scratch.path("unnamed.geojson"),
    '{"type":"Feature","properties":{"name":"Grove"},"geometry":{"type":"Point","coordinates":[9,47],"radius":30}}',
  );
  openPullRequest(1, join(samples, "rivers.geojson"));
  openPullRequest(2, join(samples, "flawed/places.geojson"));
  openPullRequest(3, scratch.path("unnamed.geojson"));
}, 120_000);

afterAll(async () => {
  service?.process.kill();
  await service?.exited;
  scratch.remove();
});

/** Runs the script of the action with the geoferry of this checkout. */
function runScript(commands: string) {
  const [folder, programs] = [scratch.path("plain"), scratch.path("programs")];
  mkdirSync(programs, { recursive: true });
  cpSync(samples, join(folder, "samples"), { recursive: true });
  writeFileSync(join(programs, "geoferry"), `#!/bin/sh\nexec "${process.execPath}" "${main}" "$@"\n`, { mode: 0o755 });
  return spawnSync("bash", [join(sample, "run.sh")], {
    cwd: folder,
    env: {
      ...process.env,
      COMMANDS: commands,
      RUNNER_TEMP: scratch.path("."),
      PATH: `${programs}${delimiter}${process.env.PATH}`,
    },
    encoding: "utf8",
  });
}

let jobs = 0;

/** Runs the workflow of the repository as it is at a commit. */
function run(
  ref: string,
  event: "pull_request" | "push",
  settings: Pick<Parameters<typeof runWorkflow>[1], "vars" | "secrets"> = {},
): JobResult & { workspace: string } {
  const folder = scratch.path(`job-${jobs++}`);
  const [workspace, temporary, tools] = [join(folder, "workspace"), join(folder, "temporary"), join(folder, "tools")];
  for (const path of [workspace, temporary, tools]) mkdirSync(path, { recursive: true });
  const checkOut = () => {
    git(workspace, "init", "--quiet");
    git(workspace, "fetch", "--quiet", "--depth=1", `file://${origin}`, ref);
    git(workspace, "checkout", "--quiet", "FETCH_HEAD");
  };
  checkOut();
  const text = readFileSync(join(workspace, ".github/workflows/data.yaml"), "utf8");
  const npm = dirname(execFileSync("sh", ["-c", "command -v npm"], { encoding: "utf8" }).trim());
  const connection = Object.entries(process.env).filter(([name]) =>
    /^(NODE_EXTRA_CA_CERTS|SSL_CERT_.*|.*_proxy)$/i.test(name),
  );
  const done = runWorkflow(text, {
    workspace,
    temporary,
    event,
    ...settings,
    env: {
      ...Object.fromEntries(connection),
      HOME: folder,
      // Node.js as setup-node puts it first, and packages where npm installs them with that Node.js.
      PATH: [join(tools, "bin"), dirname(node!), npm, "/usr/bin", "/bin"].join(delimiter),
      npm_config_prefix: tools,
      npm_config_userconfig: join(homedir(), ".npmrc"),
      // What one job downloads serves all.
      npm_config_cache: scratch.path("npm-cache"),
      npm_config_audit: "false",
      NODE_COMPILE_CACHE: scratch.path("compiled"),
    },
    actions: {
      "actions/checkout": checkOut,
      "actions/setup-node": (inputs) => expect(inputs).toEqual({ "node-version": "24" }),
    },
  });
  return { ...done, workspace };
}

const recordsOf = (path: string): Record<string, unknown>[] =>
  readFileSync(path, "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));

describe("the action for GitHub", { timeout: 120_000 }, () => {
  test("the GitHub action is composite, and its workflow uses existing inputs", () => {
    expect(action.runs.using).toBe("composite");
    expect(Object.keys(action.inputs)).toContain("command");
  });

  test("the sample workflow accepts a pull request with sound data, and outputs the records of its commands", () => {
    if (!node) return;
    const { result, log, outputs, workspace } = run("refs/pull/1/merge", "pull_request");
    expect(result, log).toBe("success");
    expect(log).toContain("::group::geoferry check data/parks.geojson");
    expect(log).not.toContain("::error::");
    expect(outputs).toHaveLength(1);
    expect(recordsOf(outputs[0]!.report!).at(-1)).toMatchObject({ type: "summary", output: "parks.gpkg" });
    const { features } = JSON.parse(readFileSync(join(workspace, "data/parks.geojson"), "utf8"));
    expect(features.length).toBeGreaterThan(5);
    const { stdout } = geoferry(["info", join(workspace, "parks.gpkg"), "--json"]);
    expect(JSON.parse(stdout.split("\n", 1)[0]!)).toMatchObject({ featureCount: features.length });
  });

  test("the sample workflow rejects a pull request with damaged data, and names each command that failed", () => {
    if (!node) return;
    const { result, log } = run("refs/pull/2/merge", "pull_request");
    expect(result).toBe("failure");
    expect(log).toContain("::error::geoferry check data/parks.geojson ended with status 5");
    // The record and its reason, in samples/flawed/places.geojson.
    expect(log).toContain(
      "::error file=data/parks.geojson,title=out-of-range::record 2: latitude 149.13 is beyond ±90°",
    );
  });

  test("the sample workflow rejects a pull request whose data the target cannot hold", () => {
    if (!node) return;
    const { result, log, workspace } = run("refs/pull/3/merge", "pull_request");
    expect(result, log).toBe("failure");
    expect(log).toContain("::error::geoferry convert data/parks.geojson parks.gpkg --strict ended with status 4");
    expect(() => readFileSync(join(workspace, "parks.gpkg"))).toThrow();
  });

  test("the GitHub action keeps words in quotes together, and interprets nothing else of a shell", () => {
    const { status, stdout } = runScript(
      "# a remark\n\nconvert samples/parks.geojson 'the parks.gpkg' --where \"area_km2 > 5000\"\ninfo $(touch$IFS'created') `touch created`\ninfo 'open\n",
    );
    expect(stdout).toContain("::error::geoferry info $(touch$IFS'created') `touch created` ended with status 3");
    expect(stdout).toContain("::error::geoferry info 'open ended with status 2");
    expect(status).toBe(3);
    expect(existsSync(join(scratch.path("plain"), "the parks.gpkg"))).toBe(true);
    expect(existsSync(join(scratch.path("plain"), "created"))).toBe(false);
  });

  test("the GitHub action runs all commands and ends with the first status that is not 0", () => {
    const { status, stdout } = runScript(
      "check samples/flawed/places.geojson\ncheck samples/absent.geojson\ninfo samples/parks.geojson",
    );
    expect(status).toBe(5);
    expect(stdout).toContain("::error::geoferry check samples/flawed/places.geojson ended with status 5");
    expect(stdout).toContain("::error::geoferry check samples/absent.geojson ended with status 3");
  });

  test("the sample workflow pushes to the map after the merge", () => {
    if (!node) return;
    const admin = (args: string[], input = "") => {
      const { stdout, stderr } = geoferry(["admin", ...args, "--data", data, "--json"], { input });
      expect(stderr).toBe("");
      return JSON.parse(stdout) as Record<string, string>;
    };
    admin(["user", "add", "ada@example.org"], "a quiet harbour\n");
    const { id } = admin(["map", "add", "Parks", "--owner", "ada@example.org"]);
    const credential = admin(["credential", "add", "--owner", "ada@example.org"]);
    const settings = {
      vars: { MAP: id! },
      secrets: { GEOFERRY_CLIENT_ID: credential.client_id!, GEOFERRY_CLIENT_SECRET: credential.client_secret! },
    };
    const { result, log, outputs } = run("refs/heads/main", "push", settings);
    expect(result, log).toBe("success");
    expect(log).not.toContain(credential.client_secret);
    expect(outputs).toHaveLength(2);
    // Each use of the action has its own file.
    expect(recordsOf(outputs[0]!.report!).map(({ type }) => type)).toContain("summary");
    expect(JSON.stringify(recordsOf(outputs[1]!.report!))).toContain('"create":27');
  });
});
