/** Traces as a collector sees them: of a job and of the service that it writes to, and none where none was asked for. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { copyFileSync } from "node:fs";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { afterEach, beforeEach, expect, test } from "vitest";
import { cleanEnvironment, createAccountWithMap, ServiceProcess } from "../service/service-process.js";
import { main, samples } from "../support/command.js";
import { JobFixture } from "../support/jobs/job-fixture.js";
import { Collector } from "./collector.js";

const desk = new JobFixture();
const { at, put } = desk;

let collector: Collector;
beforeEach(async () => {
  collector = await Collector.start();
});
afterEach(() => collector[Symbol.asyncDispose]());

/** Runs a command to its end while this process goes on to listen. */
async function geoferry(args: readonly string[], env: NodeJS.ProcessEnv) {
  const child = spawn(process.execPath, [main, ...args], { cwd: desk.folder, env: { ...cleanEnvironment, ...env } });
  const ended = once(child, "close");
  const stderr = await text(child.stderr);
  return { status: (await ended)[0] as number | null, stderr };
}

const secret = "s3cr3t-of-the-collector";

test("a job, its steps, conversions and requests, and the work of the service are one trace", async () => {
  const env = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_EXPORTER_OTLP_HEADERS: `x-key=${secret}` };
  const store = ["--data", at("maps")];
  const { map, clientId, clientSecret } = await createAccountWithMap(store);
  const service = await ServiceProcess.start([...store, "--quiet", "--log-level", "silent"], {
    ...env,
    OTEL_SERVICE_NAME: "maps",
    OTEL_BSP_SCHEDULE_DELAY: "100",
  });
  copyFileSync(`${samples}/parks.geojson`, at("parks.geojson"));
  put(
    "job.yaml",
    `name: nightly\nsteps:\n  - {name: copy, source: parks.geojson, target: parks.gpkg}
  - {name: parks, source: parks.geojson, target: {map: ${map}, mode: full, remoteField: ref}}
  - {name: gone, source: nowhere.geojson, target: nowhere.gpkg}\n`,
  );
  const { status } = await desk.run("job.yaml", [], {
    env: {
      ...env,
      OTEL_RESOURCE_ATTRIBUTES: "deployment.environment.name=test",
      TRACEPARENT: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
      GEOFERRY_URL: service.url,
      GEOFERRY_CLIENT_ID: clientId,
      GEOFERRY_CLIENT_SECRET: clientSecret,
    },
  });
  expect(status).toBe(3);
  expect(await service.end()).toBe(0);

  expect(new Set(collector.spans.map(({ traceId }) => traceId))).toEqual(new Set(["0af7651916cd43dd8448eb211c80319c"]));
  const [root] = collector.named("geoferry run");
  expect(root).toMatchObject({ service: "geoferry", parentSpanId: "b7ad6b7169203331", status: 2 });
  expect(root!.attributes["process.exit.code"]).toBe(3);
  const steps = collector.named("step");
  expect(steps.map(({ attributes }) => [attributes["geoferry.step"], attributes["geoferry.result"]])).toEqual([
    ["copy", "done"],
    ["parks", "done"],
    ["gone", "failed"],
  ]);
  expect(steps.map(({ status, attributes }) => [status, attributes["error.type"]])).toEqual([
    [0, undefined],
    [0, undefined],
    [2, "input-missing"],
  ]);
  const paths = new Set(collector.spans.map((span) => collector.pathTo(span).join(" > ")));
  for (const path of [
    "geoferry run > step > convert",
    "geoferry run > step > read source > convert",
    "geoferry run > step > read map > GET",
    "geoferry run > step > compare",
    "geoferry run > step > apply > PUT",
    "geoferry run > step > apply > PUT > PUT /api/v1/maps/:mapId/features",
  ])
    expect(paths).toContain(path);

  const [sent] = collector.named("PUT");
  const port = Number(new URL(service.url).port);
  expect(sent).toMatchObject({ kind: 3, service: "geoferry" });
  expect(sent!.attributes).toMatchObject({
    "http.request.method": "PUT",
    "server.address": "127.0.0.1",
    "server.port": port,
    "url.full": `${service.url}/api/v1/maps/${map}/features`,
    "http.response.status_code": 200,
  });
  const [taken] = collector.named("PUT /api/v1/maps/:mapId/features");
  expect(taken).toMatchObject({ kind: 2, service: "maps", parentSpanId: sent!.spanId });
  expect(taken!.attributes).toMatchObject({
    "http.route": "/api/v1/maps/:mapId/features",
    "url.path": `/api/v1/maps/${map}/features`,
    "http.response.status_code": 200,
  });
  const calls = collector.spans.filter(
    ({ parentSpanId, name }) => parentSpanId === taken!.spanId && /^store /.test(name),
  );
  expect(calls.length).toBeGreaterThan(0);
  expect(calls[0]!.attributes).toMatchObject({ "db.system.name": "sqlite" });

  expect(collector.headers.every((headers) => headers["x-key"] === secret)).toBe(true);
  const exported = JSON.stringify(collector.spans);
  for (const hidden of [clientSecret, clientId, secret, "Bearer"]) expect(exported).not.toContain(hidden);
});

test("a request whose client disconnects early has its span and log line, too", async () => {
  const service = await ServiceProcess.start(["--data", at("maps")], { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url });
  const form = "grant_type=client_credentials_with_user&client_id=a&client_secret=b";
  const type = "content-type: application/x-www-form-urlencoded";
  const asked = `POST /token HTTP/1.1\r\nhost: x\r\n${type}\r\ncontent-length: ${form.length}\r\n\r\n${form}`;
  for (let i = 0; i < 8; i++) {
    const socket = connect(Number(new URL(service.url).port), "127.0.0.1");
    socket.write(asked, () => socket.destroy());
    await once(socket, "close");
  }
  // Whoever stands behind them in the line of the service was asked after them.
  expect((await fetch(`${service.url}/token`, { method: "POST" })).status).toBe(400);
  expect(await service.end()).toBe(0);
  expect(service.logs.filter(({ url }) => url === "/token")).toHaveLength(9);
  expect(collector.named("POST /token")).toHaveLength(9);
  const spans = new Set(collector.spans.map(({ spanId }) => spanId));
  for (const { parentSpanId } of collector.spans) expect([undefined, ...spans]).toContain(parentSpanId);
});

test("nothing is sent unless the environment names a collector, or if it disables traces", async () => {
  const convert = ["convert", `${samples}/parks.geojson`, "parks.csv", "--overwrite"];
  const disabled = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_SDK_DISABLED: "true" };
  const none = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_TRACES_EXPORTER: "none" };
  for (const env of [{}, disabled, none]) expect((await geoferry(convert, env)).status).toBe(0);
  expect(collector.spans).toEqual([]);
  expect((await geoferry(convert, { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url })).status).toBe(0);
  expect(collector.spans.map(({ name }) => name)).toEqual(["convert", "geoferry convert"]);
});

test("an unavailable collector does not stop a run, and is reported once", async () => {
  const env = { OTEL_EXPORTER_OTLP_ENDPOINT: `http://${await desk.silence()}` };
  const { status, stderr } = await geoferry(["convert", `${samples}/parks.geojson`, "parks.csv"], env);
  expect(status).toBe(0);
  expect(stderr.match(/traces cannot be sent: the collector did not accept them/g)).toHaveLength(1);
});

test("unsupported trace settings are reported", async () => {
  const grpc = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_EXPORTER_OTLP_PROTOCOL: "grpc" };
  expect((await geoferry(["convert", `${samples}/parks.geojson`, "a.csv"], grpc)).stderr).toContain(
    "the OTLP protocol grpc is not supported",
  );
  const zipkin = await geoferry(["convert", `${samples}/parks.geojson`, "b.csv"], { OTEL_TRACES_EXPORTER: "zipkin" });
  expect(zipkin.stderr).toContain("OTEL_TRACES_EXPORTER is zipkin");
  expect(zipkin.status).toBe(0);
});
