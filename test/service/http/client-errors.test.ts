/** Input at the port that is not a valid request. */
import { type AddressInfo, connect } from "node:net";
import { describe, expect, test } from "vitest";
import { sendRawBytes } from "../raw-request.js";
import { describeOnEveryStore, point } from "../service-fixture.js";

describe("connections with invalid input", () => {
  describeOnEveryStore(
    (service) => {
      const send = (...lines: readonly string[]) => sendRawBytes(service().app, lines.join("\r\n"));
      const problemOf = (answer: string) => {
        const [head, body] = answer.split("\r\n\r\n") as [string, string];
        expect(head).toContain("Content-Type: application/problem+json");
        const { status, code } = JSON.parse(body);
        expect(head.slice(0, 12)).toBe(`HTTP/1.1 ${status}`);
        return code;
      };
      const authorization = () => `Authorization: Bearer ${service().ann.token}`;

      test("is closed if its headers never end", async () => {
        const answer = await send(`GET ${service().path} HTTP/1.1`, "Host: localhost", "X-Slow: ");
        expect(problemOf(answer)).toBe("request-timeout");
      });

      test("is closed if its body never ends", async () => {
        const head = [`POST ${service().path} HTTP/1.1`, "Host: localhost", authorization()];
        const answer = await send(
          ...head,
          "Content-Type: application/json",
          "Content-Length: 100",
          "",
          '{"features":[',
        );
        expect(problemOf(answer)).toBe("request-timeout");
      });

      test("is closed if the client never reads the response", async () => {
        const { app } = service();
        // More than the socket buffers of both sides.
        for (let i = 0; i < 4; i++) await service().create(point({ text: "x".repeat(9_000_000) }));
        if (!app.server.listening) await app.listen({ host: "127.0.0.1", port: 0 });
        const connections = () =>
          new Promise<number>((resolve) => app.server.getConnections((_error, count) => resolve(count)));
        await expect.poll(connections, { timeout: 60_000 }).toBe(0);
        const answered = new Promise<void>((resolve) =>
          app.server.once("request", (_, answer) => answer.once("close", resolve)),
        );
        const socket = connect((app.server.address() as AddressInfo).port, "127.0.0.1").pause();
        const head = [`GET ${service().path} HTTP/1.1`, "Host: localhost", authorization(), "", ""];
        socket.write(head.join("\r\n"));
        await answered;
        await expect.poll(connections, { timeout: 60_000 }).toBe(0);
        socket.destroy();
      });

      test("is closed if its headers are too large", async () => {
        const answer = await send(
          `GET ${service().path} HTTP/1.1`,
          "Host: localhost",
          `X-Large: ${"x".repeat(17_000)}`,
          "",
          "",
        );
        expect(problemOf(answer)).toBe("headers-too-large");
      });

      test.each([
        "nonsense\r\n\r\n",
        "GET / HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
        "\x16\x03\x01\x02\x00",
      ])("that does not speak HTTP is closed: %j", async (bytes) => {
        expect(problemOf(await sendRawBytes(service().app, bytes))).toBe("bad-request");
      });

      test("are rejected with several Host headers or none, and read to the last one of 2,100 headers", async () => {
        const hosts = ["Host: localhost", "host: example.org"];
        const refused = await send("GET /healthz HTTP/1.1", ...hosts, "Connection: close", "", "");
        expect(refused).toMatch(/^HTTP\/1\.1 400 /);
        expect(refused).toContain('"code":"bad-header"');
        const missing = await send("GET /healthz HTTP/1.1", "Connection: close", "", "");
        expect(missing).toMatch(/^HTTP\/1\.1 400 /);
        expect(missing).toContain('"message":"The header Host is invalid: it is missing."');
        // HTTP/1.0 does not require it.
        expect(await send(`GET ${service().path} HTTP/1.0`, authorization(), "", "")).toMatch(/^HTTP\/1\.1 200 /);
        const many = Array(2100).fill("X:");
        const head = [`GET ${service().path} HTTP/1.1`, "Host: localhost", "Connection: close"];
        expect(await send(...head, ...many, authorization(), "", "")).toMatch(/^HTTP\/1\.1 200 /);
      });

      test("gets problem details if it expects more than 100-continue", async () => {
        const head = [`GET ${service().path} HTTP/1.1`, "Host: localhost", authorization(), "Connection: close"];
        const refused = await send(...head, "Expect: 200-ok", "", "");
        expect(refused).toMatch(/^HTTP\/1\.1 417 /);
        expect(refused).toContain('"code":"expectation-failed"');
        expect(await send(...head, "Expect: 100-Continue", "", "")).toMatch(/^HTTP\/1\.1 (100|200) /);
      });

      test("gets one full stop after the reason", async () => {
        const refused = await send("QUERY /api HTTP/1.1", "Host: localhost", "Connection: close", "", "");
        expect(refused).toContain('"code":"bad-request"');
        expect(refused).not.toContain('.."');
      });

      test("gets a response and is closed if its body is too long by its headers", async () => {
        const head = [`POST ${service().path} HTTP/1.1`, "Host: localhost", authorization()];
        const answer = await send(...head, "Content-Type: application/json", "Content-Length: 99999999999", "", "{");
        expect(answer).toMatch(/^HTTP\/1\.1 413 /);
        expect(answer).toMatch(/^connection: close\r$/im);
      });
    },
    { headerSeconds: 1, requestSeconds: 1, sendSeconds: 1 },
  );
});
