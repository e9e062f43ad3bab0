/** The header Strict-Transport-Security (RFC 6797). */
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

test("the header is sent if the public URL is https", async () => {
  expect(await said({ publicUrl: "https://maps.example.org" })).toBe(aYear);
  const app = buildApp({ store, publicUrl: "https://maps.example.org" });
  for (const url of ["/api/v1/maps", "/nothing/here", "/.well-known/oauth-authorization-server"]) {
    const { headers } = await app.inject({ url });
    expect(headers["strict-transport-security"], url).toBe(aYear);
  }
});

test("the header is sent if a trusted proxy received the request over https", async () => {
  expect(await said({ trustProxy: true }, forwarded)).toBe(aYear);
  expect(await said({ trustProxy: true }, { "x-forwarded-proto": "http" })).toBeUndefined();
  expect(await said({ trustProxy: false }, forwarded)).toBeUndefined();
});

test("the header is not sent without https (RFC 6797, 7.2)", async () => {
  expect(await said({})).toBeUndefined();
  expect(await said({ publicUrl: "http://maps.example.org" })).toBeUndefined();
});

test.each(["localhost:8443", "127.0.0.1:8443", "[::1]:8443", "maps.localhost"])(
  "the header is not sent for %s, where it would apply to every port",
  async (host) => {
    expect(await said({ publicUrl: `https://${host}` })).toBeUndefined();
    expect(await said({ trustProxy: true }, { ...forwarded, host })).toBeUndefined();
  },
);
