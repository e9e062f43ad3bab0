/** The client that plugins get: what it repeats, follows and refuses. */
import { existsSync, readFileSync } from "node:fs";
import { afterAll, afterEach, describe, expect, it } from "vitest";
import { HostHttpClient } from "../../../src/io/http/http-client.js";
import { type NetworkSettings, withNetworkSettings } from "../../../src/network-settings.js";
import type { HttpClient, HttpResponse } from "../../../src/plugin/http.js";
import { TemporaryFolder } from "../../support/read-layers.js";
import { AnsweringServer } from "../../support/servers/answering-server.js";
import { type SilenceMode, SilentServer } from "../../support/servers/silent-server.js";

const scratch = new TemporaryFolder();
const servers: { close(): void | Promise<void> }[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
});
afterAll(() => scratch.remove());

async function serve(...answers: Parameters<typeof AnsweringServer.start>[0][]) {
  let n = 0;
  const server = await AnsweringServer.start((asked) => answers[Math.min(n++, answers.length - 1)]!(asked));
  servers.push(server);
  return server;
}

const client = (rate?: number, signal = new AbortController().signal): HttpClient =>
  new HostHttpClient({ source: "the source", rate }, signal);
const ok = () => ({ body: "fine" });
const textOf = ({ body }: HttpResponse) => body.toString();
const within = <T>(settings: Partial<NetworkSettings>, work: () => Promise<T>) => withNetworkSettings(settings, work);

describe("a request", () => {
  it("is repeated after a broken connection, a busy server, and content that says so", async () => {
    const server = await serve(
      () => null,
      () => ({ status: 502, body: "bad gateway" }),
      () => ({ body: "later" }),
      ok,
    );
    const answer = await client().send({ url: server.origin }, (response) =>
      textOf(response) === "later" ? "it says later" : null,
    );
    expect(textOf(answer)).toBe("fine");
    expect(server.requests).toHaveLength(4);
  });

  it("is not repeated after other statuses, which the caller gets", async () => {
    const server = await serve(() => ({ status: 404, body: "gone" }));
    expect((await client().send({ url: server.origin })).status).toBe(404);
    expect(server.requests).toHaveLength(1);
  });

  it("waits as long as Retry-After says", async () => {
    const times: number[] = [];
    const server = await serve(
      () => {
        times.push(performance.now());
        return { status: 429, headers: { "retry-after": "1" }, body: "" };
      },
      () => {
        times.push(performance.now());
        return { body: "" };
      },
    );
    await client().send({ url: server.origin });
    expect(times[1]! - times[0]!).toBeGreaterThanOrEqual(990);
  });

  it("fails after the retries of the run, with the number of attempts", async () => {
    const server = await serve(() => ({ status: 503, body: "" }));
    await expect(within({ retries: 2 }, () => client().send({ url: server.origin }))).rejects.toMatchObject({
      code: "input-unavailable",
      message: expect.stringMatching(/the source.*503.*tried 3 times/),
    });
    expect(server.requests).toHaveLength(3);
  });

  it("fails at once if Retry-After is longer than a run should wait", async () => {
    const server = await serve(() => ({ status: 503, headers: { "retry-after": "86400" }, body: "" }));
    await expect(client().send({ url: server.origin })).rejects.toMatchObject({ code: "input-unavailable" });
    expect(server.requests).toHaveLength(1);
  });

  it.each<SilenceMode>(["silent", "silent after the head", "a byte now and then"])(
    "to a server that is %s ends within the timeout, tried twice",
    async (mode) => {
      const server = await SilentServer.start(mode);
      servers.push(server);
      const sent = within({ timeout: 300 }, () => client().send({ url: `http://127.0.0.1:${server.port}/` }));
      await expect(sent).rejects.toMatchObject({
        code: "input-unavailable",
        message: expect.stringContaining("--timeout"),
      });
      expect(server.requests).toBe(2);
    },
  );

  it("ends as interrupted when the run does", async () => {
    const server = await serve(() => new Promise(() => {}));
    const controller = new AbortController();
    const sent = client(undefined, controller.signal).send({ url: server.origin });
    setTimeout(() => controller.abort(), 50);
    await expect(sent).rejects.toMatchObject({ code: "interrupted" });
  });

  it("keeps to the rate", async () => {
    const server = await serve(ok);
    const limited = client(20);
    const start = performance.now();
    for (let n = 0; n < 5; n++) await limited.send({ url: server.origin });
    expect(performance.now() - start).toBeGreaterThanOrEqual(190);
  });
});

describe("a redirect", () => {
  it("is followed, with its own headers only at the same origin", async () => {
    const other = await serve(ok);
    const server = await serve(
      () => ({ status: 302, headers: { location: "/here" }, body: "" }),
      () => ({ status: 307, headers: { location: `${other.origin}/there` }, body: "" }),
    );
    expect(textOf(await client().send({ url: server.origin, headers: { authorization: "secret" } }))).toBe("fine");
    expect(server.requests.map(({ path, headers }) => [path, headers.authorization])).toEqual([
      ["/", "secret"],
      ["/here", "secret"],
    ]);
    expect(other.requests.map(({ path, headers }) => [path, headers.authorization])).toEqual([["/there", undefined]]);
  });

  it("of a form is followed at the same origin only, by 307 and 308", async () => {
    const form = new URLSearchParams({ token: "t" });
    const other = await serve(ok);
    const good = await serve(() => ({ status: 308, headers: { location: "/b" }, body: "" }), ok);
    expect(textOf(await client().send({ url: good.origin, form }))).toBe("fine");
    expect(good.requests.map(({ method, parameters }) => [method, parameters.get("token")])).toEqual([
      ["POST", "t"],
      ["POST", "t"],
    ]);
    for (const [status, location] of [
      [307, other.origin],
      [302, "/b"],
    ] as const) {
      const bad = await serve(() => ({ status, headers: { location }, body: "" }));
      await expect(client().send({ url: bad.origin, form })).rejects.toMatchObject({ code: "input-download" });
    }
    expect(other.requests).toEqual([]);
  });

  it("without an end or an address is refused", async () => {
    const loop = await serve(() => ({ status: 301, headers: { location: "/" }, body: "" }));
    await expect(client().send({ url: loop.origin })).rejects.toMatchObject({
      message: expect.stringContaining("10 times"),
    });
    const lost = await serve(() => ({ status: 301, body: "" }));
    await expect(client().send({ url: lost.origin })).rejects.toMatchObject({ code: "input-download" });
    const file = await serve(() => ({ status: 301, headers: { location: "file:///etc/passwd" }, body: "" }));
    await expect(client().send({ url: file.origin })).rejects.toMatchObject({ code: "input-download" });
  });
});

describe("a response", () => {
  it("is saved to a file, again from its beginning after a break", async () => {
    const path = scratch.path("saved");
    const server = await serve(() => ({ headers: { "content-length": "100" }, body: "cut" }), ok);
    expect(await client().save({ url: server.origin }, path)).toMatchObject({ status: 200, size: 4 });
    expect(readFileSync(path, "utf8")).toBe("fine");
  });

  it("never replaces a file, and leaves none after a failure", async () => {
    const path = scratch.path("saved");
    const server = await serve(ok);
    await expect(client().save({ url: server.origin }, path)).rejects.toMatchObject({ code: "output-failed" });
    expect(readFileSync(path, "utf8")).toBe("fine");
    const cut = await serve(() => ({ headers: { "content-length": "100" }, body: "cut" }));
    const other = scratch.path("other");
    const saved = within({ retries: 1, timeout: 500 }, () => client().save({ url: cut.origin }, other));
    await expect(saved).rejects.toMatchObject({ code: "input-unavailable" });
    expect(existsSync(other)).toBe(false);
    const missing = await serve(() => ({ status: 404, body: "" }));
    expect(await client().save({ url: missing.origin }, other)).toMatchObject({ status: 404, size: 0 });
    expect(existsSync(other)).toBe(false);
  });
});
