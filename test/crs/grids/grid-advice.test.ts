/** The grids that advice names are given, as far as Debian's `proj-data` has them, and do what the advice says. */
import { existsSync, readdirSync } from "node:fs";
import { expect, it } from "vitest";
import { intersectionParts } from "../../../src/crs/area.js";
import { areaOfUse, crsContext, findOperation } from "../../../src/crs/index.js";
import { PositionCounter } from "../../../src/crs/operations/position-counter.js";
import { buildTransform } from "../../../src/crs/operations/transform.js";
import { systems } from "../../conformance/crs-compare.mjs";
import * as engine from "../../conformance/crs-engine.js";

const folder = "/usr/share/proj";
const there: ReadonlySet<string> = new Set(existsSync(folder) ? readdirSync(folder) : []);

it.skipIf(!there.has("ntf_r93.gsb"))(
  "the grid in the advice gives a system the accuracy in the advice",
  async () => {
    const wrong: string[] = [];
    const served = new Set<string>();
    for (const [index, { id, deprecated }] of systems(engine, "EPSG").entries()) {
      if (deprecated || index % 3 !== 0) continue;
      const crs = await crsContext.parse(id);
      const area = await areaOfUse(crs);
      const plain = await findOperation(crs, crsContext.wgs84).catch((error) => error.details ?? null);
      // As it is listed where there is an operation, and in the refusal where there is none.
      for (const { name, accuracy, area: own, grids, readable, sentence } of plain?.better ?? []) {
        const files = grids.map((names: readonly string[]) => names.find((file) => there.has(file)));
        if (!readable || area === null || own === null || files.includes(undefined)) continue;
        const [part] = intersectionParts(own, area);
        if (part === undefined) continue;
        expect(sentence).toContain(files[0]);
        const options = { grids: files.map((file: string) => `${folder}/${file}`) };
        const operation = await findOperation(crs, crsContext.wgs84, options);
        const back = await findOperation(crsContext.wgs84, crs, options);
        const tally = new PositionCounter(operation.transformations.length);
        const xy = Float64Array.of((part[0] + part[2]) / 2, (part[1] + part[3]) / 2);
        (await buildTransform(back))(xy, null);
        (await buildTransform(operation, tally))(xy, null);
        const used = operation.transformations.find((_, route) => tally.getCount(route) > 0);
        served.add(String(files[0]));
        if (!((used?.accuracy ?? Number.NaN) <= accuracy))
          wrong.push(`${id}: ${sentence}; ${name}, used ${used?.name}`);
      }
    }
    expect(wrong).toEqual([]);
    expect([...served].sort()).toEqual(expect.arrayContaining(["BETA2007.gsb", "ntf_r93.gsb"]));
  },
  120_000,
);
