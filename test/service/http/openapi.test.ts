/** /openapi.json, compared with the specification and with the validators. */
import { describe, expect, test } from "vitest";
import { buildApp } from "../../../src/service/app.js";
import type { Store } from "../../../src/service/store/contract.js";

interface Operation {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly security: readonly object[];
  readonly parameters?: readonly { readonly name: string; readonly in: string; readonly schema: object }[];
  readonly requestBody?: { readonly content: Record<string, { readonly schema: object }> };
  readonly responses: Record<string, { readonly content?: Record<string, object> }>;
  readonly "x-extension"?: boolean;
}
interface Document {
  readonly openapi: string;
  readonly paths: Record<string, Record<string, Operation>>;
  readonly components: { readonly schemas: Record<string, { readonly [name: string]: unknown }> };
}

// No route uses the store.
const app = buildApp({ store: {} as Store });
const response = await app.inject("/openapi.json");
const document = response.json<Document>();
const features = "/api/v1/maps/{mapId}/features";
const operations = Object.values(document.paths).flatMap((path) => Object.values(path));

/** All references in a document. */
function references(value: unknown): string[] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([name, member]) =>
    name === "$ref" && typeof member === "string" ? [member] : references(member),
  );
}

describe("the OpenAPI description", () => {
  test("is OpenAPI 3.1 in JSON", () => {
    expect(response.headers["content-type"]).toMatch(/^application\/json\b/);
    expect(document.openapi).toBe("3.1.0");
  });

  test("has the endpoints of the specification, and marks all others as extensions", () => {
    const endpoints = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({ name: `${method} ${path}`, operation })),
    );
    const own = endpoints.filter(({ operation }) => !operation["x-extension"]).map(({ name }) => name);
    expect(own.sort()).toEqual(
      [
        ...["get", "post", "put", "patch", "delete"].map((method) => `${method} ${features}`),
        `patch ${features}/{featureId}`,
        "post /token",
        "post /revoke",
      ].sort(),
    );
    const others = endpoints.filter(({ operation }) => operation["x-extension"]);
    expect(others.map(({ name }) => name).sort()).toEqual(
      [
        "get /api/v1/maps",
        "post /api/v1/maps",
        ...["get", "patch", "delete"].map((method) => `${method} /api/v1/maps/{mapId}`),
      ].sort(),
    );
    for (const { operation } of others) expect(operation.tags).toEqual(["extension"]);
  });

  test("states the limits of section 8", () => {
    const query = document.paths[features]!.get!.parameters!.filter((parameter) => parameter.in === "query");
    expect(Object.fromEntries(query.map(({ name, schema }) => [name, schema]))).toMatchObject({
      page: { type: "integer", minimum: 1, default: 1 },
      per_page: { type: "integer", minimum: 1, maximum: 500, default: 200 },
    });
    for (const method of ["post", "put", "patch", "delete"]) {
      const { content } = document.paths[features]![method]!.requestBody!;
      expect(Object.keys(content)).toEqual(["application/json", "application/geo+json"]);
      expect(content["application/json"]!.schema).toMatchObject({ properties: { features: { maxItems: 1000 } } });
    }
  });

  test("lists the headers that make a request conditional or idempotent", () => {
    const headersOf = (method: string) =>
      document.paths[features]![method]!.parameters!.flatMap((parameter) =>
        parameter.in === "header" ? [parameter.name] : [],
      );
    const conditions = ["if-match", "if-none-match"];
    expect(headersOf("get")).toEqual(conditions);
    for (const method of ["put", "delete"]) expect(headersOf(method)).toEqual([...conditions, "prefer"]);
    for (const method of ["post", "patch"])
      expect(headersOf(method)).toEqual([...conditions, "prefer", "idempotency-key"]);
  });

  test("returns features as GeoJSON, and errors as problem details", () => {
    const { get } = document.paths[features]!;
    expect(Object.keys(get!.responses["200"]!.content!)).toEqual(["application/geo+json"]);
    expect(Object.keys(get!.responses["404"]!.content!)).toEqual(["application/problem+json"]);
  });

  test("requires a token except at the token endpoints", () => {
    for (const { operationId, security } of operations) {
      const client = operationId === "requestToken" || operationId === "revokeToken";
      expect(security).toEqual(client ? [{}, { client: [] }] : [{ bearer: [] }]);
    }
  });

  test("uses each operationId once, and only resolvable references", () => {
    const ids = operations.map(({ operationId }) => operationId);
    expect(new Set(ids).size).toBe(ids.length);
    const found = references(document);
    expect(found.length).toBeGreaterThan(20);
    for (const reference of found) {
      expect(document.components.schemas).toHaveProperty([reference.replace("#/components/schemas/", "")]);
    }
  });
});

describe("the server URL in the OpenAPI description", () => {
  const store = {} as Store;
  const metadata = "/.well-known/oauth-authorization-server";

  test("is the configured public URL", async () => {
    const behind = buildApp({ store, publicUrl: "https://example.org/maps/" });
    expect((await behind.inject(metadata)).json()).toMatchObject({
      issuer: "https://example.org/maps",
      token_endpoint: "https://example.org/maps/token",
    });
    expect((await behind.inject("/openapi.json")).json().servers).toEqual([{ url: "https://example.org/maps" }]);
  });

  test("is taken from the headers of a trusted proxy", async () => {
    const headers = { host: "10.0.0.7:8080", "x-forwarded-host": "example.org", "x-forwarded-proto": "https" };
    const issuerOf = async (trustProxy: boolean) =>
      (await buildApp({ store, trustProxy }).inject({ url: metadata, headers })).json().issuer;
    expect(await issuerOf(true)).toBe("https://example.org");
    expect(await issuerOf(false)).toBe("http://10.0.0.7:8080");
  });
});
