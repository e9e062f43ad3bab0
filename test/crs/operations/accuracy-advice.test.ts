/** The advice that a refusal prints is followed, over systems of EPSG by lot with a fixed seed. */
import { expect, it } from "vitest";
import { areaOfUse, crsContext, findOperation, type Operation, operationNotes } from "../../../src/crs/index.js";
import { PositionCounter } from "../../../src/crs/operations/position-counter.js";
import { buildTransform } from "../../../src/crs/operations/transform.js";
import { Random } from "../../../src/testing/random.js";
import { systems } from "../../conformance/crs-compare.mjs";
import * as engine from "../../conformance/crs-engine.js";

const random = new Random(19);
const all = systems(engine, "EPSG");
const draw = () => all.splice(random.below(all.length), 1)[0]!.id;

/** A box of a tenth of the area of use, somewhere in it, and positions in it. */
async function placeIn(id: string) {
  const [west, south, east, north] = (await areaOfUse(await crsContext.parse(id)))!;
  const width = (((east - west) % 360) + 360) % 360 || 360;
  const [x, y] = [west + width * 0.9 * random.next(), south + (north - south) * 0.9 * random.next()];
  const within = [x, y, x + width / 10, y + (north - south) / 10] as const;
  const positions = Float64Array.from({ length: 50 }, (_, k) =>
    k % 2 === 0 ? x + (width / 10) * random.next() : y + ((north - south) / 10) * random.next(),
  );
  return { within, positions };
}

const wgs84 = crsContext.wgs84;

/** How many positions are served, and the text of what is stated or refused. */
async function convert(id: string, place: Awaited<ReturnType<typeof placeIn>>, accuracy?: number) {
  let operation: Operation;
  try {
    const options = { within: place.within, ...(accuracy === undefined ? {} : { accuracy }) };
    operation = await findOperation(wgs84, await crsContext.parse(id), options);
  } catch (error) {
    return { served: 0, refused: true, text: (error as Error).message };
  }
  const tally = new PositionCounter(operation.transformations.length);
  (await buildTransform(operation, tally))(place.positions.slice(), null);
  const routes = [...operation.transformations.keys(), null].filter((route) => tally.getCount(route) > 0);
  const uses = routes.map((transformationIndex) => ({
    transformationIndex,
    positionCount: tally.getCount(transformationIndex),
    box: tally.getBox(transformationIndex),
  }));
  const stated = await operationNotes(operation, uses);
  const refused = tally.getCount(null);
  return { served: 25 - refused, refused: refused > 0, text: stated.map(({ text }) => text).join("\n") };
}

const reasons =
  /no shift between .* is known|is neither geographic nor projected|cannot be computed|no operation is known there/;

it("300 random systems are converted, or refused with advice that works", async () => {
  const wrong: string[] = [];
  let converted = 0;
  let count = 0;
  while (count < 300) {
    const id = draw();
    // A system whose area EPSG does not say has no place to draw.
    if ((await areaOfUse(await crsContext.parse(id))) === null) continue;
    count++;
    for (const accuracy of [undefined, 5, 0.5]) {
      const place = await placeIn(id);
      const first = await convert(id, place, accuracy);
      if (!first.refused) {
        if (accuracy === undefined) converted++;
        continue;
      }
      const [, advised] =
        /--accuracy (\d+(?:\.\d+)?) takes/.exec(first.text) ?? /--accuracy (999)/.exec(first.text) ?? [];
      if (advised === undefined) {
        if (!reasons.test(first.text)) wrong.push(`${id} at ${accuracy}: ${first.text}`);
        continue;
      }
      const followed = await convert(id, place, Number(advised));
      // What is refused after that lies where no operation is known at all.
      if (/--accuracy \d/.test(followed.text) || (followed.refused && !reasons.test(followed.text)))
        wrong.push(`${id} at ${accuracy}, then ${advised}: ${first.text}\n -> ${followed.text}`);
    }
  }
  expect(wrong).toEqual([]);
  expect(converted).toBeGreaterThan(230);
}, 120_000);
