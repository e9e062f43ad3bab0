/** Segments of one point, which only GPX can hold, are kept from GPX to GPX. */
import { readFileSync, writeFileSync } from "node:fs";
import { afterAll, describe, expect, test } from "vitest";
import { TemporaryFolder } from "../../../src/testing/index.js";
import { convertFile } from "../../support/host.js";
import { gpxDocument, readGpx } from "./read-gpx.js";

const scratch = new TemporaryFolder();
afterAll(() => scratch.remove());

const walk = scratch.path("walk.gpx");
const time = (day: number) => `<time>2024-01-0${day}T00:00:00Z</time>`;
writeFileSync(
  walk,
  gpxDocument(`<trk><name>walk</name><trkseg><trkpt lat="9" lon="8">${time(1)}</trkpt></trkseg>
    <trkseg><trkpt lat="1" lon="2">${time(2)}</trkpt><trkpt lat="1" lon="3">${time(3)}</trkpt></trkseg></trk>
    <trk><name>stop</name><trkseg><trkpt lat="5" lon="6"/></trkseg></trk>`),
);

/** Returns the segments of each track in a file, as lists of latitudes. */
const segmentsIn = (path: string) =>
  [...readFileSync(path, "utf8").matchAll(/<trk>.*?<\/trk>/gs)].map(([track]) =>
    [...track.matchAll(/<trkseg>.*?<\/trkseg>/gs)].map(([segment]) =>
      [...segment.matchAll(/<trkpt lat="([^"]*)"/g)].map(([, latitude]) => Number(latitude)),
    ),
  );

describe("segments of one point", () => {
  test("segments of one point are kept from GPX to GPX, with their times", async () => {
    const output = scratch.path("copy.gpx");
    const report = await convertFile(walk, output);
    expect(report.losses).toEqual([]);
    expect(segmentsIn(output)).toEqual([[[9], [1, 1]], [[5]]]);
    expect(readFileSync(output, "utf8").match(/<time>/g)).toHaveLength(3);
  });

  test("segments of one point are kept in a GPX that features are appended to", async () => {
    const output = scratch.path("longer.gpx");
    await convertFile(walk, output);
    const places = scratch.path("places.csv");
    writeFileSync(places, "name,lon,lat\nhere,1,2\n");
    await convertFile(places, output, { append: true });
    expect(segmentsIn(output)).toEqual([[[9], [1, 1]], [[5]]]);
    expect(readFileSync(output, "utf8").match(/<wpt/g)).toHaveLength(1);
  });

  test("segments of one point are left out in other formats, with their times; a single one becomes a point", async () => {
    const output = scratch.path("walk.geojson");
    const report = await convertFile(walk, output);
    expect(report.losses).toMatchObject([{ code: "degenerate-part", count: 1 }]);
    const { features } = JSON.parse(readFileSync(output, "utf8"));
    expect(features).toMatchObject([
      {
        geometry: {
          type: "LineString",
          coordinates: [
            [2, 1],
            [3, 1],
          ],
        },
        properties: { coordinateProperties: { times: ["2024-01-02T00:00:00Z", "2024-01-03T00:00:00Z"] } },
      },
      { geometry: { type: "Point", coordinates: [6, 5] } },
    ]);
  });

  test("segments of one point are left out of a GPX with shortLines=no", async () => {
    const output = scratch.path("short.gpx");
    const report = await convertFile(walk, output, { readerOptions: { "short-lines": "no" } });
    expect(report.losses).toMatchObject([{ code: "degenerate-part", count: 1 }]);
    expect(segmentsIn(output)[0]).toEqual([[1, 1]]);
    const { layers } = await readGpx(readFileSync(output, "utf8"));
    expect(layers[0]!.features).toHaveLength(2);
  });
});
