/** Map Features Service Interface, sections 2.5, 4.1 and 5: tokens (RFC 6749, RFC 7009, RFC 8414). */
import { setTimeout as pause } from "node:timers/promises";
import { describe, expect, test, vi } from "vitest";
import { ByteBudget } from "../../../src/service/limits/byte-budget.js";
import { sendRawParts } from "../raw-request.js";
import { describeOnEveryStore, point, type ServiceFixture } from "../service-fixture.js";

const grant_type = "client_credentials_with_user";
const basic = (id: string, secret: string) => ({
  authorization: `Basic ${Buffer.from(`${encodeURIComponent(id)}:${encodeURIComponent(secret)}`).toString("base64")}`,
});

const credentialsOf = ({ ann }: ServiceFixture) => ({ client_id: ann.clientId, client_secret: ann.clientSecret });

describe("tokens", () => {
  describeOnEveryStore((service) => {
    const request = (form: Record<string, string>, headers = {}) => service().form("/token", form, { headers });
    const tokenOf = async (): Promise<string> => {
      const { json } = await request({ grant_type, ...credentialsOf(service()) });
      return String(json.access_token);
    };
    const readWith = (token: string) =>
      service().send("GET", service().path, { as: null, headers: { authorization: `Bearer ${token}` } });

    test("4.1 a token is issued for credentials in a form", async () => {
      const { status, json, headers } = await request({ grant_type, ...credentialsOf(service()) });
      expect(status).toBe(200);
      expect(json).toEqual({ token_type: "Bearer", expires_in: 3600, access_token: expect.any(String) });
      // RFC 6749, 5.1.
      expect(headers).toMatchObject({ "cache-control": "no-store", pragma: "no-cache" });
      expect(headers["content-type"]).toMatch(/^application\/json\b/);
    });

    test("4.1 a token is issued for credentials with Basic", async () => {
      const { clientId, clientSecret } = service().ann;
      const { status, json } = await request({ grant_type }, basic(clientId, clientSecret));
      expect([status, json.token_type]).toEqual([200, "Bearer"]);
    });

    test("4.1 other grant types are rejected", async () => {
      for (const other of ["client_credentials", "password", "Client_Credentials_With_User"]) {
        const { status, json } = await request({ grant_type: other, ...credentialsOf(service()) });
        expect([status, json.error]).toEqual([400, "unsupported_grant_type"]);
      }
    });

    test.each(["grant_type", "client_id", "client_secret"])(
      "4.1 a token request without %s is rejected",
      async (name) => {
        const { [name]: _, ...form } = { grant_type, ...credentialsOf(service()) } as Record<string, string>;
        for (const sent of [form, { ...form, [name]: "" }]) {
          const { status, json } = await request(sent);
          expect([status, json.error]).toEqual([400, "invalid_request"]);
        }
      },
    );

    test("4.1 a token request with a repeated parameter is rejected", async () => {
      const form = new URLSearchParams({ grant_type, ...credentialsOf(service()) });
      const { status, json } = await service().form("/token", `${form}&grant_type=${grant_type}`);
      expect([status, json.error]).toEqual([400, "invalid_request"]);
    });

    test("4.1 a token request that authenticates in two ways is rejected", async () => {
      const { clientId, clientSecret } = service().ann;
      const { status, json } = await request(
        { grant_type, ...credentialsOf(service()) },
        basic(clientId, clientSecret),
      );
      expect([status, json.error]).toEqual([400, "invalid_request"]);
    });

    test("4.1 a token request must be a form, not JSON", async () => {
      const body = { grant_type, ...credentialsOf(service()) };
      const { status, json } = await service().send("POST", "/token", { as: null, body });
      expect([status, json.error]).toEqual([400, "invalid_request"]);
      const empty = await service().send("POST", "/token", { as: null });
      expect([empty.status, empty.json.error]).toEqual([400, "invalid_request"]);
    });

    test("4.1 a token request must be a POST", async () => {
      const { status, json, headers } = await service().send("GET", "/token", { as: null });
      expect([status, headers.allow, json.error]).toEqual([405, "POST", "invalid_request"]);
      for (const method of ["OPTIONS", "TRACE", "PROPFIND", "PURGE"]) {
        const other = await service().send(method, "/token", { as: null });
        expect([other.status, other.headers.allow, other.json.error]).toEqual([405, "POST", "invalid_request"]);
      }
    });

    test("4.1 a wrong secret and an unknown client get the same response", async () => {
      const [known, unknown, nul] = await Promise.all(
        [service().ann.clientId, "gfc_unknown", "gfc_\u0000"].map((client_id) =>
          request({ grant_type, client_id, client_secret: "gfs_wrong" }),
        ),
      );
      expect([known!.status, known!.json.error]).toEqual([401, "invalid_client"]);
      expect(known!.headers["www-authenticate"]).toMatch(/^Basic /);
      for (const other of [unknown!, nul!]) {
        expect([other.status, other.text]).toEqual([401, known!.text]);
      }
    });

    test("4.1 revoked credentials are rejected", async () => {
      const { account, credential } = service().ann;
      await service().store.revokeCredential({ account, credential, now: service().now });
      const { status, json } = await request({ grant_type, ...credentialsOf(service()) });
      expect([status, json.error]).toEqual([401, "invalid_client"]);
    });

    test("4.1 a malformed Basic header is rejected", async () => {
      for (const authorization of ["Basic", "Basic !!!", `Basic ${Buffer.from("%zz:%zz").toString("base64")}`]) {
        const { status, json } = await request({ grant_type }, { authorization });
        expect([status, json.error]).toEqual([401, "invalid_client"]);
      }
    });

    test("4.1 credentials from the profile page work, and the page shows their use", async () => {
      const { account, credential } = service().ann;
      await tokenOf();
      const [kept] = await service().store.credentials(account);
      expect(kept).toMatchObject({ id: credential, lastUsed: service().now });
    });

    test("2.5 tokens are opaque and unique", async () => {
      const [one, other] = [await tokenOf(), await tokenOf()];
      expect(one).toMatch(/^gft_[\w-]{43}$/);
      expect(other).not.toBe(one);
    });

    test("5 each request requires a token", async () => {
      for (const method of ["GET", "POST", "PUT", "PATCH", "DELETE"]) {
        const { status, headers, json } = await service().send(method, service().path, { as: null });
        expect([status, json.code]).toEqual([401, "not-authenticated"]);
        expect(headers["www-authenticate"]).toBe('Bearer realm="geoferry"');
      }
    });

    test("5 tokens are sent as Authorization: Bearer", async () => {
      const token = await tokenOf();
      expect((await readWith(token)).status).toBe(200);
      const others: { path: string; headers: Record<string, string> }[] = [
        { path: `${service().path}?access_token=${token}`, headers: {} },
        { path: service().path, headers: { authorization: token } },
        { path: service().path, headers: { authorization: `Token ${token}` } },
      ];
      for (const { path, headers } of others) {
        expect((await service().send("GET", path, { as: null, headers })).status).toBe(401);
      }
    });

    test("5 the scheme of a token is case-insensitive", async () => {
      const headers = { authorization: `bEaReR ${service().ann.token}` };
      expect((await service().send("GET", service().path, { as: null, headers })).status).toBe(200);
    });

    test("5 a token expires after 3600 seconds", async () => {
      const token = await tokenOf();
      const before = service().now;
      service().now = before + 3_599_999;
      expect((await readWith(token)).status).toBe(200);
      service().now = before + 3_600_000;
      const { status, json, headers } = await readWith(token);
      service().now = before;
      expect([status, json.code]).toEqual([401, "invalid-token"]);
      // RFC 6750, 3.1.
      expect(headers["www-authenticate"]).toBe('Bearer realm="geoferry", error="invalid_token"');
    });

    test.each(["gft_unknown", "a b", "ä", ""])("5 the unknown token %j is rejected", async (token) => {
      expect((await readWith(token)).status).toBe(401);
    });

    test("5 tokens end with the revocation of their credentials", async () => {
      const token = await tokenOf();
      const { account, credential } = service().ann;
      await service().store.revokeCredential({ account, credential, now: service().now });
      expect((await readWith(token)).json.code).toBe("invalid-token");
    });

    test("5 a token that is revoked while the body arrives does not write", async () => {
      const { app, store, map, ann, now } = service();
      const { access } = store;
      const authorized = new Promise<void>((resolve) => {
        vi.spyOn(store, "access").mockImplementation(async (query) => {
          const found = await access.call(store, query);
          resolve();
          return found;
        });
      });
      const body = JSON.stringify({ features: [point()] });
      const head = [
        `POST ${service().path} HTTP/1.1`,
        "Host: x",
        "Connection: close",
        `Authorization: Bearer ${ann.token}`,
        "Content-Type: application/json",
        `Content-Length: ${body.length}`,
      ];
      const { socket, response } = await sendRawParts(app, `${head.join("\r\n")}\r\n\r\n${body.slice(0, 9)}`);
      await authorized;
      vi.restoreAllMocks();
      await store.revokeCredential({ account: ann.account, credential: ann.credential, now });
      socket.write(body.slice(9));
      expect(await response).toMatch(/^HTTP\/1\.1 401 .*invalid-token/s);
      expect(await store.map(map)).toMatchObject({ features: 0 });
    });

    test("5 a token that is revoked while the request waits for memory does not write", async () => {
      const { app, store, map, ann, now } = service();
      const { wait } = ByteBudget.prototype;
      vi.spyOn(ByteBudget.prototype, "wait").mockImplementation(async function (this: ByteBudget, ...request) {
        await store.revokeCredential({ account: ann.account, credential: ann.credential, now });
        await pause(150);
        return wait.apply(this, request);
      });
      const body = JSON.stringify({ features: [point()] });
      const head = [
        `POST ${service().path} HTTP/1.1`,
        "Host: x",
        "Connection: close",
        `Authorization: Bearer ${ann.token}`,
        "Content-Type: application/json",
        `Content-Length: ${body.length}`,
      ];
      // In one packet: the body is complete when the token is checked.
      const { response } = await sendRawParts(app, `${head.join("\r\n")}\r\n\r\n${body}`);
      expect(await response).toMatch(/^HTTP\/1\.1 401 .*invalid-token/s);
      vi.restoreAllMocks();
      expect(await store.map(map)).toMatchObject({ features: 0 });
    });

    test("5 writing requires a token of the map's owner", async () => {
      const { bob } = service();
      const [id] = await service().create(point());
      for (const method of ["POST", "PUT", "PATCH", "DELETE"]) {
        const { status, json } = await service().features(method, { features: [{ ...point(), id }] }, { as: bob });
        expect([status, json.code]).toEqual([403, "not-owner"]);
      }
      expect(await service().all()).toHaveLength(1);
    });

    test("5 a token of any account can read a public map", async () => {
      expect((await service().features("GET", undefined, { as: service().bob })).status).toBe(200);
    });

    test("tokens can be revoked by their client (RFC 7009)", async () => {
      const [token, other] = [await tokenOf(), await tokenOf()];
      const { status } = await service().form("/revoke", { token, ...credentialsOf(service()) });
      expect(status).toBe(200);
      expect((await readWith(token)).status).toBe(401);
      expect((await readWith(other)).status).toBe(200);
    });

    test("revoking an unknown token succeeds (RFC 7009, 2.2)", async () => {
      const { status } = await service().form("/revoke", { token: "gft_unknown", ...credentialsOf(service()) });
      expect(status).toBe(200);
    });

    test("tokens cannot be revoked by another client (RFC 7009, 2.1)", async () => {
      const token = await tokenOf();
      const { clientId: client_id, clientSecret: client_secret } = service().bob;
      await service().form("/revoke", { token, client_id, client_secret });
      expect((await readWith(token)).status).toBe(200);
    });

    test("a revocation requires a client and a token", async () => {
      const token = await tokenOf();
      const wrong = { ...credentialsOf(service()), client_secret: "gfs_wrong" };
      expect((await service().form("/revoke", { token, ...wrong })).json.error).toBe("invalid_client");
      expect((await service().form("/revoke", credentialsOf(service()))).json.error).toBe("invalid_request");
    });

    test("the metadata of the service has the token endpoints (RFC 8414)", async () => {
      const headers = { host: "maps.example.org" };
      const { status, json } = await service().send("GET", "/.well-known/oauth-authorization-server", {
        as: null,
        headers,
      });
      expect(status).toBe(200);
      expect(json).toEqual({
        issuer: "http://maps.example.org",
        token_endpoint: "http://maps.example.org/token",
        revocation_endpoint: "http://maps.example.org/revoke",
        response_types_supported: [],
        grant_types_supported: [grant_type],
        token_endpoint_auth_methods_supported: ["client_secret_post", "client_secret_basic"],
        revocation_endpoint_auth_methods_supported: ["client_secret_post", "client_secret_basic"],
      });
    });
  });
});

describe("token requests above the rate limit", () => {
  describeOnEveryStore(
    (service) => {
      test("8 token requests above the limit return Retry-After, and other clients are not affected", async () => {
        const form = { grant_type, ...credentialsOf(service()) };
        for (const status of [200, 200, 429]) expect((await service().form("/token", form)).status).toBe(status);
        const { headers, json } = await service().form("/revoke", { token: "gft_a", ...form });
        expect([json.error, Number(headers["retry-after"]) > 0]).toEqual(["temporarily_unavailable", true]);
        expect((await service().form("/token", form, { from: "192.0.2.9" })).status).toBe(200);
      });
    },
    { tokensPerMinute: 2 },
  );
});
