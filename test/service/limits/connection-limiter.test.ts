/** Clients that open more connections than the limits allow, and the effect on others. */
import { once } from "node:events";
import { Agent, request } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, describe, expect, test } from "vitest";
import { describeOnEveryStore, point } from "../service-fixture.js";

const limits = { connections: 20, connectionsPerAddress: 10, headerSeconds: 2 };

describe("connections above the limit", () => {
  describeOnEveryStore((service) => {
    const sockets: Socket[] = [];
    afterEach(() => {
      for (const socket of sockets.splice(0)) socket.destroy();
    });

    const port = async () => {
      const { server } = service().app;
      if (!server.listening) await service().app.listen({ host: "127.0.0.1", port: 0 });
      return (server.address() as AddressInfo).port;
    };
    const openConnections = () =>
      new Promise<number>((resolve) => service().app.server.getConnections((_error, count) => resolve(count)));

    /** Connects from a local address, sends a text, and keeps the connection open. */
    const hold = async (text: string, localAddress: string): Promise<Socket> => {
      // Half open: this side stays open after the service has closed its side.
      const socket = connect({ port: await port(), host: "127.0.0.1", localAddress, allowHalfOpen: true });
      sockets.push(socket);
      socket.on("error", () => {}).resume();
      await once(socket, "connect");
      socket.write(text);
      return socket;
    };
    const flood = async (count: number, text: string, localAddress: string) => {
      for (let i = 0; i < count; i++) await hold(text, localAddress);
    };

    /** A client with a single connection; returns the status and the local port. */
    const client = (localAddress: string) => {
      const agent = new Agent({ keepAlive: true, maxSockets: 1 });
      const get = async (path: string, headers: Record<string, string> = {}) => {
        const asked = request({ port: await port(), host: "127.0.0.1", path, agent, localAddress, headers });
        const [answer] = await once(asked.end(), "response");
        const connection = asked.socket!.localPort;
        await once(answer.resume(), "end");
        return { status: answer.statusCode as number, connection };
      };
      return { get, end: () => agent.destroy() };
    };
    const authorization = () => ({ authorization: `Bearer ${service().ann.token}` });

    test.each([
      ["say nothing", ""],
      ["send half a request line", "GET /api/v1/ma"],
      ["send half a header", "GET /readyz HTTP/1.1\r\nHost: loc"],
      [
        "send half a body",
        "POST /token HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 90\r\n\r\ngrant",
      ],
    ])("that %s do not lock out others", async (_what, text) => {
      await flood(60, text, "127.0.0.1");
      expect(await openConnections()).toBeLessThanOrEqual(limits.connectionsPerAddress);
      for (const from of ["127.0.0.1", "127.0.0.2"]) {
        const other = client(from);
        expect((await other.get(service().path, authorization())).status).toBe(200);
        other.end();
      }
    });

    test("do not close connections of signed-in clients", async () => {
      const member = client("127.0.0.1");
      const before = await member.get(service().path, authorization());
      await flood(60, "GET /", "127.0.0.1");
      expect(await member.get(service().path, authorization())).toEqual({ status: 200, connection: before.connection });
      member.end();
    });

    test("of one address do not close connections of other addresses", async () => {
      const stranger = client("127.0.0.2");
      const before = await stranger.get("/openapi.json");
      await flood(60, "", "127.0.0.1");
      expect(await stranger.get("/openapi.json")).toEqual({ status: 200, connection: before.connection });
      stranger.end();
    });

    test("of a signed-in client that reads no responses are closed for others", async () => {
      for (let i = 0; i < 4; i++) await service().create(point({ text: "x".repeat(9_000_000) }));
      const head = [
        `GET ${service().path} HTTP/1.1`,
        "Host: localhost",
        `Authorization: ${authorization().authorization}`,
      ];
      for (let i = 0; i < 12; i++) (await hold(`${head.join("\r\n")}\r\n\r\n`, "127.0.0.1")).pause();
      const other = client("127.0.0.1");
      expect((await other.get(`/api/v1/maps/${service().map}`, authorization())).status).toBe(200);
      other.end();
    });

    test("of a signed-in client that sends bodies slowly from many addresses are closed for others", async () => {
      const head = [
        `PATCH ${service().path} HTTP/1.1`,
        "Host: localhost",
        `Authorization: ${authorization().authorization}`,
        "Content-Type: application/json",
        "Content-Length: 9000",
      ];
      for (let i = 0; i < 40; i++) await hold(`${head.join("\r\n")}\r\n\r\n{`, `127.0.1.${1 + (i % 8)}`);
      // Until the service has authenticated them.
      await sleep(300);
      const probes = [client("127.0.0.2"), client("127.0.0.3")];
      for (const probe of probes) {
        const before = await probe.get("/openapi.json");
        expect(await probe.get("/openapi.json")).toEqual({ status: 200, connection: before.connection });
      }
      for (const probe of probes) probe.end();
    });

    test("of one account do not close connections of another", async () => {
      const member = client("127.0.0.2");
      const bob = { authorization: `Bearer ${service().bob.token}` };
      const before = await member.get("/api/v1/maps", bob);
      const path = `/api/v1/maps/${service().map}`;
      const others = Array.from({ length: 30 }, (_, i) => client(`127.0.1.${1 + (i % 8)}`));
      for (const other of others) expect((await other.get(path, authorization())).status).toBe(200);
      expect(await member.get("/api/v1/maps", bob)).toEqual({ status: 200, connection: before.connection });
      for (const one of [member, ...others]) one.end();
    });

    test("are closed after a timeout, even if the client keeps its side open", async () => {
      await flood(5, "GET /", "127.0.0.1");
      await expect.poll(openConnections, { timeout: 30_000 }).toBe(0);
    });
  }, limits);
});
