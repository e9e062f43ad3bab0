import { expect, test } from "vitest";
import { buildApp } from "../../src/service/app.js";
import { fakeStore, mapId } from "./fake/fake-store.js";

const url = `/api/v1/maps/${mapId}/features`;
const authorization = "Bearer token";

test("features are created and read", async () => {
  const app = buildApp({ store: fakeStore() });
  const feature = { type: "Feature", geometry: { type: "Point", coordinates: [1, 2] }, properties: { a: 1 } };
  const created = await app.inject({
    method: "POST",
    url,
    headers: { authorization },
    payload: { features: [feature] },
  });
  expect(created.statusCode).toBe(201);
  const read = await app.inject({ method: "GET", url, headers: { authorization } });
  expect(read.json().features).toMatchObject([feature]);
});
