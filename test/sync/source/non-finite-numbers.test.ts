/** Numbers beyond the range of a double, such as 1e400 (allowed by RFC 8259, 6): every push reports them. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { AlternativeService } from "../../support/servers/alternative-service.js";
import { FaultProxy } from "../../support/servers/fault-proxy.js";
import { createPlace, type Place } from "../../support/sync/sync-fixture.js";
import { noGuards, runSyncInProcess } from "../../support/sync/sync-runner.js";

let odd: AlternativeService;
const folder = mkdtempSync(join(tmpdir(), "geoferry-endless-"));
const source = join(folder, "source.geojsonl");
/** The file of rejects of a map: a run refuses one with those of another map. */
const rejectsOf = (map: string): string => join(folder, `${map}.rejects.geojsonl`);
beforeAll(async () => {
  odd = await AlternativeService.start();
});
afterAll(async () => {
  await odd[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

/** Replaces "1e400" by the number. */
const written = (places: readonly Place[]) =>
  places.map((one) => `${JSON.stringify(one).replaceAll('"1e400"', "1e400")}\n`).join("");

const push = (map: string, url: string) =>
  runSyncInProcess({
    url,
    as: odd,
    folder,
    map,
    source,
    request: { guards: noGuards },
    reading: { rejects: rejectsOf(map) },
  });

test("in the source, the feature is rejected with its verbatim number, and the second run sends nothing", async () => {
  const map = odd.newMap();
  await using proxy = await FaultProxy.start(odd.url);
  odd.fill(map, [createPlace("list", { v: [1] })]);
  writeFileSync(
    source,
    written([createPlace("a", { v: "1e400" }), createPlace("list", { v: [1, "1e400"] }), createPlace("b", { v: 1 })]),
  );
  await push(map, proxy.url);
  const { writes } = proxy;
  expect(await push(map, proxy.url)).toEqual({ end: "done", report: null });
  expect([writes, proxy.writes]).toEqual([1, 1]);
  expect(
    odd
      .featuresOf(map)
      .map(({ properties: { ref, v } }) => [ref, v])
      .sort(),
  ).toEqual([
    ["b", 1],
    ["list", [1]],
  ]);
  const lines = readFileSync(rejectsOf(map), "utf8").trim().split("\n");
  expect(lines.map((line) => [line.includes("1e400"), JSON.parse(line).reject.code])).toEqual([
    [true, "non-finite"],
    [true, "non-finite"],
  ]);
});

test("on the map, an error names the feature in each run, and nothing is sent", async () => {
  const map = odd.newMap();
  odd.fill(map, [createPlace("a", { v: "1e400" })]);
  await using proxy = await FaultProxy.start(odd.url);
  proxy.always({
    name: "the number",
    async around(request, upstream) {
      const answer = await upstream.send(request);
      return { ...answer, body: Buffer.from(answer.body.toString().replaceAll('"1e400"', "1e400")) };
    },
  });
  writeFileSync(source, written([createPlace("a", { v: 1 })]));
  for (let run = 0; run < 2; run++)
    expect(await push(map, proxy.url)).toEqual({ end: "remote-protocol-error", report: null });
  expect(proxy.writes).toBe(0);
});

test("an integer that a double would round is rejected with its digits; 10^22 and integers as text are sent", async () => {
  const map = odd.newMap();
  await using proxy = await FaultProxy.start(odd.url);
  const place = (ref: string, v: string) =>
    `${JSON.stringify(createPlace(ref, { v: 0 })).replace('"v":0', `"v":${v}`)}\n`;
  const long = "123456789012345678901234567890";
  const rounded = [place("a", long), place("b", `{"n":[${long}]}`), place("c", "9007199254740993")];
  const sent = [place("d", "10000000000000000000000"), place("e", `"${long}"`), place("f", '{"n":1}')];
  writeFileSync(source, [...rounded, ...sent].join(""));
  await push(map, proxy.url);
  const found = odd.featuresOf(map).map(({ properties: { ref, v } }) => [ref, v]);
  expect(found.sort()).toEqual([
    ["d", 1e22],
    ["e", long],
    ["f", { n: 1 }],
  ]);
  const lines = readFileSync(rejectsOf(map), "utf8").trim().split("\n");
  expect(lines.map((line) => JSON.parse(line).reject.code)).toEqual(Array(3).fill("integer-inexact"));
  expect(lines[0]).toContain(`"v":${long}`);
});
