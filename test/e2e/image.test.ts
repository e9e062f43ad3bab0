/** The container image of samples/deploy, built and run without a daemon, from a small base image made of this system. */
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  chownSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  writeFileSync,
} from "node:fs";
import { homedir } from "node:os";
import { basename, dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { TemporaryFolder } from "../../src/testing/index.js";
import { hasProgram, root, samples } from "../support/command.js";
import { canChangeRoot, createMinimalRoot } from "../support/minimal-root.js";
import { nodeVersion } from "../support/node-versions.js";
import { packedPackage } from "../support/packed-package.js";
import { readmeCommands } from "../support/readme-commands.js";
import { checkFirstSync } from "../support/sync/first-sync.js";

const canRun = canChangeRoot("the container image") && hasProgram("buildah");
if (!canRun) console.warn("NOT TESTED: the container image, which needs buildah");

const scratch = new TemporaryFolder();
const store = scratch.path("images");
const env = { ...process.env, BUILDAH_ISOLATION: "chroot", STORAGE_DRIVER: "vfs" };

const buildah = (...args: string[]): string =>
  execFileSync("buildah", ["--root", store, "--runroot", `${store}-run`, ...args], {
    env,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "pipe"],
    cwd: scratch.path("context"),
  }).trim();

function createImage(name: string, folder: string): void {
  const container = buildah("from", "scratch");
  buildah("copy", "--quiet", container, folder, "/");
  buildah("commit", "--quiet", container, name);
}

describe.skipIf(!canRun)("the container image", () => {
  let container: string;
  const run = (...args: string[]) => buildah("run", container, "--", ...args);
  /** The arguments of buildah for geoferry in a folder of this machine. A volume of the image would hide one at /data. */
  const inFolder = (folder: string, args: readonly string[], env: NodeJS.ProcessEnv = {}) => [
    ...["--root", store, "--runroot", `${store}-run`, "run", `--volume=${folder}:/srv/maps`, "--workingdir=/srv/maps"],
    ...Object.entries(env).map(([name, value]) => `--env=${name}=${value}`),
    ...[container, "--", "geoferry", ...args],
  ];

  /** A folder of user 1000, the user of the image. */
  function createData(name: string): string {
    const folder = scratch.path(name);
    mkdirSync(folder);
    chownSync(folder, 1000, 1000);
    cpSync(samples, join(folder, "samples"), { recursive: true });
    return folder;
  }

  beforeAll(async () => {
    const node = (await nodeVersion(24))!;
    const context = scratch.path("context");
    cpSync(join(root, "samples/deploy/compose"), context, { recursive: true });
    const tarball = packedPackage();
    copyFileSync(tarball, join(context, basename(tarball)));
    const npm = dirname(
      dirname(realpathSync(execFileSync("sh", ["-c", "command -v npm"], { encoding: "utf8" }).trim())),
    );
    const programs = ["sh", "rm", "env", "mkdir", "strip"];
    createMinimalRoot(scratch.path("node"), programs, { [node]: "/usr/local/bin/node" });
    cpSync(npm, scratch.path("node/usr/local/lib/node_modules/npm"), { recursive: true });
    writeFileSync(
      scratch.path("node/usr/local/bin/npm"),
      '#!/bin/sh\nexec /usr/local/bin/node /usr/local/lib/node_modules/npm/bin/npm-cli.js "$@"\n',
      { mode: 0o755 },
    );
    createImage("node-base", scratch.path("node"));
    // The npm settings of this machine, to reach its registry.
    const npmSettings = [join(homedir(), ".npmrc"), "/usr/etc/npmrc"].filter(existsSync);
    writeFileSync(scratch.path("npmrc"), npmSettings.map((path) => readFileSync(path, "utf8")).join("\n"));
    const settings = [
      [scratch.path("npmrc"), "/usr/local/etc/npmrc"],
      ["/etc/resolv.conf", "/etc/resolv.conf"],
      ["/etc/hosts", "/etc/hosts"],
      ["/etc/ssl/certs", "/etc/ssl/certs"],
    ].filter(([path]) => existsSync(path!));
    buildah(
      "build",
      "--format=docker",
      "--build-arg=NODE_IMAGE=localhost/node-base",
      "--build-arg=GEOFERRY=./geoferry-0.1.0.tgz",
      ...settings.map(([from, to]) => `--volume=${from}:${to}:ro`),
      "--tag=geoferry",
      ".",
    );
    container = buildah("from", "geoferry");
  }, 600_000);

  afterAll(() => {
    if (canRun) buildah("rmi", "--all", "--force");
    scratch.remove();
  });

  test("the image runs geoferry as a user who can write to nothing but its data and temporary files", () => {
    expect(run("geoferry", "--version")).toBe("0.1.0");
    expect(run("node", "-p", "process.getuid()")).toBe("1000");
    // So a read-only root changes nothing.
    const writable = `
      const { accessSync, constants, readdirSync } = require("node:fs");
      const can = (path) => { try { accessSync(path, constants.W_OK); return true; } catch { return false; } };
      const walk = (path) => [path, ...readdirSync(path, { withFileTypes: true }).flatMap((entry) =>
        entry.isDirectory() ? walk(path.replace(/\\/$/, "") + "/" + entry.name) : path + "/" + entry.name)];
      const own = readdirSync("/").filter((name) => !["dev", "proc", "sys", "run"].includes(name));
      console.log(own.flatMap((name) => walk("/" + name)).filter(can).join(" "));`;
    expect(run("node", "-e", writable).split(" ").sort()).toEqual(["/data", "/tmp"]);
  });

  test("the image has no shell, no npm, no tarball, and a bill of materials, and takes under 150 MB", () => {
    const mounted = buildah("mount", container);
    for (const path of ["bin/sh", "usr/bin", "usr/local/lib/node_modules", "opt/geoferry/geoferry-0.1.0.tgz"])
      expect(existsSync(join(mounted, path)), path).toBe(false);
    const bill = JSON.parse(readFileSync(join(mounted, "opt/geoferry/node_modules/geoferry/dist/sbom.json"), "utf8"));
    expect(bill.bomFormat).toBe("CycloneDX");
    const [bytes] = execFileSync("du", ["-sb", mounted], { encoding: "utf8" }).split("\t");
    expect(Number(bytes) / 1e6).toBeLessThan(150);
  });

  test("the image runs the commands of the README in a folder of this machine", () => {
    const folder = createData("readme");
    for (const { command, status } of readmeCommands) {
      // There is no shell in the image: that of this machine feeds it, and sees its output.
      const [, from = null, own = ""] = /^(?:cat (\S+) \| )?geoferry ([^|]+)/.exec(command) ?? [];
      const args = [...own.matchAll(/'([^']*)'|"([^"]*)"|(\S+)/g)].map(([, a, b, c]) => a ?? b ?? c!);
      const input = from ? readFileSync(join(folder, from)) : "";
      const ran = spawnSync("buildah", inFolder(folder, args), { env, encoding: "utf8", input });
      // The status of buildah is that of the command.
      expect(ran.status, `${command}\n${ran.stderr}`).toBe(status);
    }
    expect(JSON.parse(readFileSync(join(folder, "survey.geojson"), "utf8")).features).toHaveLength(20);
    expect(readdirSync(join(folder, "csv")).length).toBeGreaterThan(5);
  }, 300_000);

  test("the image runs the service, passes its own health check, and syncs a map", async () => {
    const { Config } = JSON.parse(buildah("inspect", "--type=image", "geoferry")).Docker.config
      ? { Config: JSON.parse(buildah("inspect", "--type=image", "geoferry")).Docker.config }
      : { Config: {} };
    expect(Config).toMatchObject({
      User: "1000:1000",
      Entrypoint: ["geoferry"],
      Cmd: expect.arrayContaining(["serve"]),
    });
    const [, ...check] = Config.Healthcheck.Test as string[];
    const folder = createData("service");
    // A process group of its own, so that it ends with all its processes.
    const service = spawn("buildah", inFolder(folder, Config.Cmd), { env, stdio: "ignore", detached: true });
    try {
      for (let tries = 0; ; tries++) {
        const args = ["--root", store, "--runroot", `${store}-run`, "run", container, "--", ...check];
        const { status } = spawnSync("buildah", args, { env });
        if (status === 0) break;
        expect(tries).toBeLessThan(20);
        await new Promise((resolve) => setTimeout(resolve, 500));
      }
      const answer = await fetch("http://127.0.0.1:8080/healthz");
      expect(await answer.json()).toEqual({ status: "alive" });
      checkFirstSync(
        (args, options) =>
          spawnSync("buildah", inFolder(folder, args, options?.env), { env, encoding: "utf8", input: options?.input }),
        "http://127.0.0.1:8080",
        [],
        {
          capitals: "samples/capitals.geojson",
          backup: "before.geojson",
          pulled: "pulled.gpkg",
          state: "/srv/maps/state",
        },
      );
    } finally {
      process.kill(-service.pid!, "SIGTERM");
      await once(service, "exit");
    }
  }, 300_000);
});
