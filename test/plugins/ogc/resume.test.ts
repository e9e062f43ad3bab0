/** A first reading that broke off is continued by the same command; edits since then are noticed. */
import { once } from "node:events";
import { mkdirSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, describe, expect, it } from "vitest";
import { withNetworkSettings } from "../../../src/network-settings.js";
import { geoferry, startGeoferry } from "../../support/command.js";
import { convertFile } from "../../support/host.js";
import { TemporaryFolder } from "../../support/read-layers.js";
import { type Stop, stops } from "./hand-built-services.js";
import { type PagedService, startPaged } from "./paged-services.js";

const scratch = new TemporaryFolder();
const kept = scratch.path("kept");
const services: PagedService[] = [];
afterEach(async () => {
  for (const service of services.splice(0)) await service.close();
  rmSync(kept, { recursive: true, force: true });
});
afterAll(() => scratch.remove());

// The last page is not full, so that a WFS is asked for no page behind it.
const count = 450;
const from1To = (last: number): number[] => Array.from({ length: last }, (_, n) => n + 1);
const twice = [0, 100, 200, 300, 400, 0, 100, 200, 300, 400];

async function start(kind: "wfs" | "oapif"): Promise<PagedService> {
  const service = await startPaged(kind, stops(count));
  services.push(service);
  return service;
}

let outputs = 0;
async function convert({ address }: PagedService, more: Record<string, string> = {}): Promise<Stop[]> {
  const output = scratch.path(`output-${outputs++}.geojson`);
  const readerOptions = { resume: kept, pageSize: "100", parallel: "1", ...more };
  await withNetworkSettings({ retries: 0 }, () => convertFile(address, output, { readerOptions }));
  const { features } = JSON.parse(readFileSync(output, "utf8")) as { features: { properties: Stop }[] };
  return features.map(({ properties }) => properties);
}

/** Breaks the connection at the page that begins at 300, once it has been asked for `times` times before. */
async function interrupt(service: PagedService, times = 0): Promise<void> {
  let asked = 0;
  service.change = (page, answer) => (page === 300 && asked++ === times ? null : answer);
  await expect(convert(service)).rejects.toMatchObject({ code: "input-unavailable" });
  service.change = (_, answer) => answer;
  service.starts.length = 0;
}

const journalPath = (): string => join(kept, readdirSync(kept).find((name) => name.endsWith(".pages"))!);

describe.each(["wfs", "oapif"] as const)("an interrupted reading (%s)", (kind) => {
  it("is continued, compared with a second one, and leaves nothing behind", async () => {
    const service = await start(kind);
    await interrupt(service);
    const found = await convert(service);
    expect(found.map(({ id }) => id)).toEqual(from1To(count));
    expect(service.starts).toEqual([300, 400, 0, 100, 200, 300, 400]);
    expect(readdirSync(kept)).toEqual([]);
  });

  it("is complete before the second one begins, which alone is repeated", async () => {
    const service = await start(kind);
    await interrupt(service, 1);
    expect((await convert(service)).map(({ id }) => id)).toEqual(from1To(count));
    expect(service.starts.slice(0, 5)).toEqual([0, 100, 200, 300, 400]);
  });

  it("is read again if a feature was edited since, though the number is the same", async () => {
    const service = await start(kind);
    await interrupt(service);
    service.features = service.features.map((stop) => (stop.id === 7 ? { ...stop, name: "moved" } : stop));
    const found = await convert(service);
    expect(found[6]!.name).toBe("moved");
    expect(found.map(({ id }) => id)).toEqual(from1To(count));
    expect(readdirSync(kept)).toEqual([]);
  });

  it("starts again if the number of features has changed", async () => {
    const service = await start(kind);
    await interrupt(service);
    service.features = service.features.slice(1);
    expect((await convert(service)).map(({ id }) => id)).toEqual(from1To(count).slice(1));
    expect(service.starts.slice(0, 10)).toEqual(twice);
  });

  it("starts again for another selection", async () => {
    const service = await start(kind);
    await interrupt(service);
    await convert(service, { pageSize: "200" });
    expect(service.starts.slice(0, 3)).toEqual([0, 200, 400]);
  });

  it("continues before a part of the file that is damaged or incomplete", async () => {
    const service = await start(kind);
    const damages: [damage: (bytes: Buffer) => Buffer, first: number][] = [
      [(bytes) => bytes.subarray(0, bytes.length - 20), 200],
      [(bytes) => Buffer.from(bytes.toString("latin1").replace("stop 150", "stop 15O"), "latin1"), 100],
      [(bytes) => Buffer.concat([bytes, Buffer.from('{"url":"')]), 300],
      [(bytes) => bytes.subarray(0, 10), 0],
    ];
    for (const [damage, first] of damages) {
      await interrupt(service);
      const path = journalPath();
      const damaged = damage(readFileSync(path));
      truncateSync(path, 0);
      writeFileSync(path, damaged);
      const found = await convert(service);
      expect(found.map(({ name }) => name)).toEqual(from1To(count).map((id) => `stop ${id}`));
      expect(service.starts[0]).toBe(first);
      service.starts.length = 0;
    }
  });

  it("is continued after the process was killed", async () => {
    const service = await start(kind);
    const args = ["convert", service.address, scratch.path(`killed-${kind}.geojson`)];
    args.push("--in", `resume=${kept}`, "--in", "pageSize=100", "--in", "parallel=1");
    // The fourth page never comes, until the process is killed.
    const isAsked = new Promise<void>((resolve) => {
      service.change = (page, answer) => {
        if (page !== 300) return answer;
        resolve();
        return new Promise(() => undefined);
      };
    });
    const child = startGeoferry(args);
    await isAsked;
    child.kill("SIGKILL");
    await once(child, "close");
    expect(
      readdirSync(kept)
        .map((name) => name.replace(/^.*\./, ""))
        .sort(),
    ).toEqual(["lock", "pages"]);
    service.change = (_, answer) => answer;
    service.starts.length = 0;
    const again = startGeoferry(args);
    const [status] = (await once(again, "close")) as [number];
    expect(status).toBe(0);
    expect(service.starts).toEqual([300, 400, 0, 100, 200, 300, 400]);
    const { features } = JSON.parse(readFileSync(args[2]!, "utf8")) as { features: { properties: Stop }[] };
    expect(features.map(({ properties }) => properties.id)).toEqual(from1To(count));
    expect(readdirSync(kept)).toEqual([]);
  });
});

it("a reading that another process continues is refused", async () => {
  const service = await start("oapif");
  await interrupt(service);
  writeFileSync(journalPath().replace(/\.pages$/, ".lock"), String(process.pid));
  await expect(convert(service)).rejects.toMatchObject({ code: "output-locked" });
});

it("cannot be continued without a second reading", () => {
  mkdirSync(kept, { recursive: true });
  const args = ["convert", "wfs:http://127.0.0.1:9/wfs", scratch.path("no.csv")];
  const { status, stderr } = geoferry([...args, "--in", `resume=${kept}`, "--in", "singleRead=yes"]);
  expect(status).toBe(2);
  expect(stderr).toContain("resume cannot be combined with singleRead");
});
