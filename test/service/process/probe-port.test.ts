/** The port for probes: it answers while a crowd fills the queue of the main port, and gives access to nothing else. */
import { connect, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, expect, test, vi } from "vitest";
import { geoferry } from "../../support/command.js";
import { createScratchFolder, ServiceProcess } from "../service-process.js";

vi.setConfig({ testTimeout: 120_000 });

const folder = createScratchFolder();
let service: ServiceProcess | null = null;
afterEach(async () => {
  service?.process.kill("SIGTERM");
  await service?.exited;
  service = null;
});

const statusOf = async (url: string) => (await fetch(url)).status;

test("the probe port answers the endpoints for monitoring, and nothing else", async () => {
  service = await ServiceProcess.start(["--data", folder.data(), "--probe-port", "0"]);
  const { url, probes } = service.record;
  expect(probes).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
  // Stderr may come in several pieces.
  await expect.poll(() => service!.stderr).toContain(`geoferry: probes at ${probes}/healthz and ${probes}/readyz\n`);
  expect(await (await fetch(`${probes}/healthz`)).json()).toEqual({ status: "alive" });
  expect(await (await fetch(`${probes}/readyz?from=kubelet`)).json()).toEqual({ status: "ready" });
  expect(await (await fetch(`${probes}/metrics`)).text()).toContain("geoferry_build_info");
  for (const path of ["/", "/token", "/api/v1/maps", "/openapi.json", "//healthz"])
    expect(await statusOf(`${probes}${path}`)).toBe(404);
  expect(await statusOf(`${url}/healthz`)).toBe(200);
});

test("the probe port closes with the service", async () => {
  service = await ServiceProcess.start(["--data", folder.data(), "--probe-port", "0"]);
  const { probes } = service.record;
  service.process.kill("SIGTERM");
  expect(await service.exited).toBe(0);
  await expect(fetch(`${probes}/healthz`)).rejects.toThrow();
});

test("a probe port that is in use is an error that names it", async () => {
  service = await ServiceProcess.start(["--data", folder.data()]);
  const { port } = new URL(service.record.url);
  const { status, stderr } = geoferry(["serve", "--data", folder.data(), "--port", "0", "--probe-port", port]);
  expect(status).toBe(11);
  expect(stderr).toContain(
    `port ${port} of 127.0.0.1 is in use by another program; stop that one, or choose another port with --probe-port`,
  );
});

test("probes are answered while the limit of connections of the service is exhausted", async () => {
  service = await ServiceProcess.start(["--data", folder.data(), "--probe-port", "0", "--limit", "connections=20"]);
  const { port } = new URL(service.record.url);
  const crowd: Socket[] = [];
  for (let i = 0; i < 200; i++) crowd.push(connect(Number(port), "127.0.0.1").on("error", () => {}));
  await sleep(200);
  for (let i = 0; i < 5; i++) expect(await statusOf(`${service.record.probes}/healthz`)).toBe(200);
  for (const socket of crowd) socket.destroy();
});
