/** Strict-Transport-Security (RFC 6797): who comes by https is told to come by nothing else. */
import { expect, test } from "vitest";
import { type AppDependencies, buildApp } from "../../../src/service/app.js";
import type { Store } from "../../../src/service/store/contract.js";

const store = { accounts: async () => [] } as unknown as Store;

async function said(dependencies: Partial<AppDependencies>, headers: Record<string, string> = {}): Promise<unknown> {
  const app = buildApp({ store, ...dependencies });
  const answer = await app.inject({ url: "/openapi.json", headers: { host: "maps.example.org", ...headers } });
  expect(answer.statusCode).toBe(200);
  return answer.headers["strict-transport-security"];
}

const forwarded = { "x-forwarded-proto": "https" };
const aYear = "max-age=31536000";

test("a service whose public address is https says so in every answer", async () => {
  expect(await said({ publicUrl: "https://maps.example.org" })).toBe(aYear);
  const app = buildApp({ store, publicUrl: "https://maps.example.org" });
  for (const url of ["/api/v1/maps", "/nothing/here", "/.well-known/oauth-authorization-server"]) {
    const { headers } = await app.inject({ url });
    expect(headers["strict-transport-security"], url).toBe(aYear);
  }
});

test("a service behind a proxy that is believed says so to who came by https", async () => {
  expect(await said({ trustProxy: true }, forwarded)).toBe(aYear);
  expect(await said({ trustProxy: true }, { "x-forwarded-proto": "http" })).toBeUndefined();
  expect(await said({ trustProxy: false }, forwarded)).toBeUndefined();
});

test("a service without https says nothing (RFC 6797, 7.2)", async () => {
  expect(await said({})).toBeUndefined();
  expect(await said({ publicUrl: "http://maps.example.org" })).toBeUndefined();
});

test.each(["localhost:8443", "127.0.0.1:8443", "[::1]:8443", "maps.localhost"])(
  "nothing is said of %s: it would hold for every port of this machine",
  async (host) => {
    expect(await said({ publicUrl: `https://${host}` })).toBeUndefined();
    expect(await said({ trustProxy: true }, { ...forwarded, host })).toBeUndefined();
  },
);
