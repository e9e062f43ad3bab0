import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { Spool } from "../../../src/io/input/spool.js";
import type { MapClient } from "../../../src/remote/client/map-client.js";
import { readMapInput } from "../../../src/remote/snapshot/map-input.js";

test("a map as an input has the numbers that the service sends, also those that no double holds", async () => {
  const text =
    '{"type":"Feature","id":"a","geometry":{"type":"Point","coordinates":[1,2]},"properties":{"n":9007199254740993}}';
  const page = { features: [JSON.parse(text)], etag: '"1"', texts: () => [text] };
  const client = { id: "m1", url: "http://service.test", page: async () => page } as unknown as MapClient;
  await using spool = new Spool();
  const request = {
    id: "m1",
    name: "map:m1",
    layers: [],
    spool,
    signal: new AbortController().signal,
    onProgress() {},
  };
  const [source] = await readMapInput(client, request, { singleRead: false });
  expect(readFileSync(source!.path, "utf8")).toContain('"n":9007199254740993');
});
