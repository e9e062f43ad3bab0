/** Responses to failures of the service: what clients need, without internal details. */
import { once } from "node:events";
import { type AddressInfo, connect } from "node:net";
import { PassThrough } from "node:stream";
import { describe, expect, test } from "vitest";
import { buildApp } from "../../src/service/app.js";
import { problem } from "../../src/service/http/problems.js";
import type { Store } from "../../src/service/store/contract.js";

/** A store that always fails. */
const failing = (error: Error): Store =>
  new Proxy({} as Store, {
    get: () => async () => {
      throw error;
    },
  });

const url = "/api/v1/maps/0190a0e0-0000-7000-8000-000000000002/features";
const form = {
  headers: { "content-type": "application/x-www-form-urlencoded" },
  payload: "grant_type=client_credentials_with_user&client_id=gfc_a&client_secret=gfs_b",
};
const headers = { authorization: "Bearer gft_a" };

describe("a service with an unavailable database", () => {
  const app = buildApp({ store: failing(problem("store-unavailable", {}, { cause: new Error("10.0.0.7 refused") })) });

  test("responds with 503 and Retry-After", async () => {
    const answer = await app.inject({ url, headers });
    expect([answer.statusCode, answer.json().code]).toEqual([503, "store-unavailable"]);
    expect(answer.headers["retry-after"]).toBe("5");
    expect(answer.body).not.toContain("10.0.0.7");
  });

  test("responds in the format of OAuth at the token endpoint", async () => {
    const answer = await app.inject({ method: "POST", url: "/token", ...form });
    expect([answer.statusCode, answer.json().error]).toEqual([503, "temporarily_unavailable"]);
    expect(answer.headers["retry-after"]).toBe("5");
  });
});

describe("a service whose disk is full", () => {
  const app = buildApp({ store: failing(problem("disk-full", {})) });

  test("says so at the token endpoint", async () => {
    const answer = await app.inject({ method: "POST", url: "/token", ...form });
    expect([answer.statusCode, answer.json().error]).toEqual([503, "temporarily_unavailable"]);
    expect(answer.json().error_description).toContain("disk");
    expect(answer.headers["retry-after"]).toBe("5");
  });
});

describe("a service with an internal error", () => {
  const app = buildApp({ store: failing(new TypeError("secret of the inside")) });

  test("reveals only the request id", async () => {
    const answer = await app.inject({ url, headers });
    expect([answer.statusCode, answer.json().code]).toEqual([500, "internal"]);
    expect(answer.json().requestId).toBe(answer.headers["x-request-id"]);
    expect(answer.body).not.toContain("secret");
    const token = await app.inject({ method: "POST", url: "/token", ...form });
    expect([token.statusCode, token.json().error]).toEqual([500, "server_error"]);
    expect(token.body).not.toContain("secret");
  });
});

describe("an aborted request", () => {
  test("is not logged as an error of the service", async () => {
    const bearer = { account: "a", email: "ann@example.org", credential: "c", expires: 1e15 };
    const map = {
      id: "m",
      owner: "a",
      ownerEmail: "",
      name: "",
      private: false,
      created: 0,
      features: 0,
      revision: 0,
      version: "0-0123456789abcdef",
    };
    const store = { access: async () => ({ bearer, map }) } as unknown as Store;
    const stream = new PassThrough();
    const app = buildApp({ store, logger: { level: "error", stream } });
    const failed = new Promise<Error>((resolve) => {
      app.addHook("onError", async (_request, _reply, error) => resolve(error));
    });
    await app.listen({ host: "127.0.0.1", port: 0 });
    const socket = connect((app.server.address() as AddressInfo).port, "127.0.0.1");
    const taken = once(app.server, "request");
    const head = [`PUT ${url} HTTP/1.1`, "Host: localhost", `Authorization: ${headers.authorization}`];
    socket.write([...head, "Content-Type: application/json", "Content-Length: 99", "", '{"features":'].join("\r\n"));
    await taken;
    socket.destroy();
    expect(await failed).toBeInstanceOf(Error);
    await app.close();
    expect(stream.read()).toBeNull();
  });
});
