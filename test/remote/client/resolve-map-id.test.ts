import { expect, test } from "vitest";
import type { ServiceClient } from "../../../src/remote/client/map-client.js";
import { resolveMapId } from "../../../src/remote/client/resolve-map-id.js";

test("a UUID is one map in any letters, without a request", async () => {
  const service = {
    maps: () => {
      throw new Error("requested");
    },
  } as unknown as ServiceClient;
  const id = "0f8fad5b-d9cb-469f-a165-70867728950e";
  expect(await resolveMapId(service, id.toUpperCase())).toBe(id);
});
