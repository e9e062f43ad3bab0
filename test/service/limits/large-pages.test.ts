/** Pages that are too large for memory, and bodies: the memory they use, and their effect on other requests. */
import { createHash } from "node:crypto";
import { once } from "node:events";
import { type ClientRequest, type IncomingMessage, request } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { buffer } from "node:stream/consumers";
import { gunzipSync } from "node:zlib";
import { afterEach, describe, expect, test, vi } from "vitest";
import { describeOnEveryStore, type Person, point } from "../service-fixture.js";

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

const MiB = 1 << 20;
const bytesOfFeature = 9 * MiB;
const count = 6;

describe("large pages", () => {
  describeOnEveryStore(
    (service) => {
      const open: ClientRequest[] = [];
      let listening: Promise<string> | undefined;
      afterEach(async () => {
        for (const one of open.splice(0)) one.destroy();
        await expect.poll(() => service().budgets.disk.used).toBe(0);
        await expect.poll(() => service().budgets.memory.used).toBe(0);
      });

      const fill = async () => {
        for (let n = 0; n < count; n++) await service().create(point({ n, text: String(n).repeat(bytesOfFeature) }));
      };
      const port = async () => {
        const { server } = service().app;
        listening ??= service().app.listen({ host: "127.0.0.1", port: 0 });
        await listening;
        return (server.address() as AddressInfo).port;
      };
      /** A request of which only the response headers are read. */
      const ask = async (query: string, as: Person = service().ann): Promise<IncomingMessage> => {
        const asked = request({
          port: await port(),
          host: "127.0.0.1",
          path: service().path + query,
          headers: { authorization: `Bearer ${as.token}` },
        });
        open.push(asked.on("error", () => {}));
        const [answer] = (await once(asked.end(), "response")) as [IncomingMessage];
        return answer;
      };
      const digestOf = (bytes: Buffer) => createHash("sha256").update(bytes).digest("hex");
      const get = (query: string, headers = {}, method = "GET") =>
        service().send(method, service().path + query, { headers });

      test("have the same features as smaller pages, with length, tag and link", async () => {
        await fill();
        const pages = [];
        for (let page = 1; page <= count; page++) pages.push((await get(`?per_page=1&page=${page}`)).text);
        const features = pages.map((text) => text.slice(text.indexOf("[") + 1, -2));
        const expected = Buffer.from(`{"type":"FeatureCollection","features":[${features.slice(0, 5).join()}]}`);
        const answer = await get("?per_page=5");
        expect(digestOf(answer.bytes)).toBe(digestOf(expected));
        expect(answer.headers).toMatchObject({
          "content-length": String(expected.length),
          "content-type": "application/geo+json",
          link: expect.stringMatching(/\?after=\d+&per_page=5>; rel="next"$/),
          etag: (await get("?per_page=1")).headers.etag,
        });
        const { etag } = answer.headers;
        expect((await get("?per_page=5", { "if-none-match": etag })).status).toBe(304);
        const head = await get("?per_page=5", {}, "HEAD");
        expect([head.status, head.text, head.headers]).toMatchObject([
          200,
          "",
          { etag, "content-length": String(expected.length), link: answer.headers.link },
        ]);
        const small = await get("?per_page=5", { "accept-encoding": "gzip" });
        expect(small.headers).toMatchObject({ "content-encoding": "gzip", etag: etag!.replace(/"$/, '-gzip"') });
        expect(digestOf(gunzipSync(small.bytes))).toBe(digestOf(expected));
      });

      test("are not held in memory, however many clients wait for them", async () => {
        await fill();
        await get("?per_page=1");
        const before = process.memoryUsage.rss();
        let most = 0;
        const sampler = setInterval(() => {
          most = Math.max(most, process.memoryUsage.rss());
        }, 10);
        const answers = await Promise.all(Array.from({ length: 10 }, () => ask("?per_page=50")));
        expect(answers.map(({ statusCode }) => statusCode)).toEqual(answers.map(() => 200));
        clearInterval(sampler);
        // Ten copies of 54 MiB, once as text and once as bytes, exceed 1000 MiB.
        expect((most - before) / MiB).toBeLessThan(400);
        // All share one file.
        expect(service().budgets.disk.used / MiB).toBeLessThan(55);
        const digests = [];
        for (const answer of answers.slice(0, 2)) digests.push(digestOf(await buffer(answer)));
        expect(digests[1]).toBe(digests[0]);
      });

      test("above the budget are rejected until others were read, while small requests succeed", async () => {
        await fill();
        const first = await ask("?per_page=4");
        const second = await ask("?per_page=3");
        expect([first.statusCode, second.statusCode]).toEqual([200, 503]);
        expect(second.headers["retry-after"]).toBe("5");
        expect(JSON.parse(String(await buffer(second)))).toMatchObject({ code: "overloaded", status: 503 });
        expect((await service().send("GET", `/api/v1/maps/${service().map}`)).status).toBe(200);
        // Another account has its own share.
        const third = await ask("?per_page=2", service().bob);
        expect(third.statusCode).toBe(200);
        first.destroy();
        third.destroy();
        await expect.poll(() => service().budgets.disk.used).toBe(0);
        expect((await ask("?per_page=3")).statusCode).toBe(200);
      });

      test("and arriving bodies count against the budget, so that one account leaves room for others", async () => {
        const sockets: Socket[] = [];
        const begin = async (as: Person) => {
          const socket = connect(await port(), "127.0.0.1").on("error", () => {});
          sockets.push(socket);
          socket.write(
            `POST ${service().path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${as.token}\r\n` +
              `Content-Type: application/json\r\nContent-Length: ${9 * MiB}\r\n\r\n{"features": [`,
          );
        };
        for (let i = 0; i < 10; i++) await begin(service().ann);
        const { memory } = service().budgets;
        // Four times 9 MiB each, within half of 256 MiB.
        await expect.poll(() => memory.used / MiB).toBe(3 * 36);
        const { bob } = service();
        const sent = { as: bob, body: { features: [point()] } };
        const other = `/api/v1/maps/${await service().newMap(bob)}/features`;
        expect((await service().send("POST", other, sent)).status).toBe(201);
        // The first account still held all its bytes.
        expect(memory.used / MiB).toBe(3 * 36);
        for (const socket of sockets) socket.destroy();
        await expect.poll(() => memory.used).toBe(0);
      });
    },
    { spoolBytes: 80 * MiB },
  );
});
