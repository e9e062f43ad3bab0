import { readFileSync } from "node:fs";
import { tcx as togeojson } from "@tmcw/togeojson";
import { DOMParser } from "@xmldom/xmldom";
import { describe, expect, test } from "vitest";
import { RecordingContext } from "../../../src/testing/recording-context.js";
import { activity, featuresIn, garminNamespace, lap, point, readTcx, tcxDocument } from "./read-tcx.js";

const extension = "http://www.garmin.com/xmlschemas/ActivityExtension/v2";
const sample = readFileSync(new URL("../../../samples/tcx/col-de-voza.tcx", import.meta.url));

const losses = ({ losses: all }: RecordingContext) => all.map(({ code, field, count }) => [code, field, count]);

describe("laps", () => {
  test("laps have the fields of the schema and of ActivityExtension, and those of their activity before and after them", async () => {
    const { layers } = await readTcx(
      `<?xml version="1.0"?><TrainingCenterDatabase xmlns="${garminNamespace}" xmlns:x="${extension}" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">
      <Activities><Activity Sport="Biking"><Id>2026-05-01T08:00:00Z</Id>
      <Lap StartTime="2026-05-01T08:00:01Z"><TotalTimeSeconds>12.5</TotalTimeSeconds><DistanceMeters>90</DistanceMeters>
      <MaximumSpeed>9.25</MaximumSpeed><Calories>7</Calories><AverageHeartRateBpm xsi:type="HeartRateInBeatsPerMinute_t"><Value>120</Value></AverageHeartRateBpm>
      <MaximumHeartRateBpm><Value>130</Value></MaximumHeartRateBpm><Intensity>Active</Intensity><Cadence>80</Cadence><TriggerMethod>Manual</TriggerMethod>
      <Track>${point(11.2, 47.1, "<AltitudeMeters>500</AltitudeMeters><Time>2026-05-01T08:00:01Z</Time>")}${point(11.3, 47.2, "<AltitudeMeters>501.5</AltitudeMeters>")}</Track>
      <Notes>a &amp; b</Notes><Extensions><x:LX><x:AvgSpeed>7.2</x:AvgSpeed><x:MaxBikeCadence>95</x:MaxBikeCadence><x:AvgRunCadence>1</x:AvgRunCadence><x:MaxRunCadence>2</x:MaxRunCadence><x:Steps>3</x:Steps><x:AvgWatts>200</x:AvgWatts><x:MaxWatts>400</x:MaxWatts></x:LX></Extensions></Lap>
      <Notes>whole ride</Notes><Creator xsi:type="Device_t"><Name>Edge</Name><UnitId>4000000001</UnitId><ProductID>1169</ProductID><Version><VersionMajor>3</VersionMajor><VersionMinor>20</VersionMinor><BuildMajor>0</BuildMajor><BuildMinor>1</BuildMinor></Version></Creator>
      </Activity></Activities></TrainingCenterDatabase>`,
    );
    expect(layers).toEqual([
      {
        name: "a",
        featureCount: 1,
        fields: {
          ...{ _tcxType: "text", sport: "text", activityId: "text", activityNotes: "text", creator: "text" },
          ...{ creatorUnitId: "int64", creatorProductId: "int32", creatorVersionMajor: "int32" },
          ...{ creatorVersionMinor: "int32", creatorBuildMajor: "int32", creatorBuildMinor: "int32" },
          ...{ startTime: "datetime", totalTimeSeconds: "double", distanceMeters: "double", maxSpeed: "double" },
          ...{ calories: "int32", avgHeartRate: "int32", maxHeartRate: "int32", intensity: "text", cadence: "int32" },
          ...{ triggerMethod: "text", notes: "text", avgSpeed: "double", maxBikeCadence: "int32" },
          ...{ avgRunCadence: "int32", maxRunCadence: "int32", steps: "int32", avgWatts: "int32", maxWatts: "int32" },
          coordinateProperties: "json",
        },
        features: [
          {
            type: "Feature",
            geometry: {
              type: "LineString",
              coordinates: [
                [11.2, 47.1, 500],
                [11.3, 47.2, 501.5],
              ],
            },
            properties: {
              ...{ _tcxType: "lap", sport: "Biking", activityId: "2026-05-01T08:00:00Z", activityNotes: "whole ride" },
              ...{ creator: "Edge", creatorUnitId: 4000000001, creatorProductId: 1169, creatorVersionMajor: 3 },
              ...{ creatorVersionMinor: 20, creatorBuildMajor: 0, creatorBuildMinor: 1 },
              ...{ startTime: "2026-05-01T08:00:01Z", totalTimeSeconds: 12.5, distanceMeters: 90, maxSpeed: 9.25 },
              ...{ calories: 7, avgHeartRate: 120, maxHeartRate: 130, intensity: "Active", cadence: 80 },
              ...{ triggerMethod: "Manual", notes: "a & b", avgSpeed: 7.2, maxBikeCadence: 95, avgRunCadence: 1 },
              ...{ maxRunCadence: 2, steps: 3, avgWatts: 200, maxWatts: 400 },
              coordinateProperties: { times: ["2026-05-01T08:00:01Z", null] },
            },
          },
        ],
      },
    ]);
  });

  test("values of trackpoints have one value for each position, nested by track", async () => {
    const values = (heart: number) => `<HeartRateBpm><Value>${heart}</Value></HeartRateBpm>`;
    const extended = `<Cadence>80</Cadence><SensorState>Present</SensorState><DistanceMeters>5.5</DistanceMeters><Extensions><TPX xmlns="${extension}" CadenceSensor="Bike"><Speed>2.5</Speed><RunCadence>70</RunCadence><Watts>210</Watts></TPX></Extensions>`;
    const [feature] = await featuresIn(
      tcxDocument(
        activity(
          lap(
            `<Track>${point(1, 2, values(100))}${point(2, 3)}</Track><Track>${point(3, 4, values(101) + extended)}${point(4, 5)}${point(5, 6, values(102))}</Track>`,
          ),
        ),
      ),
    );
    expect(feature!.geometry).toEqual({
      type: "MultiLineString",
      coordinates: [
        [
          [1, 2],
          [2, 3],
        ],
        [
          [3, 4],
          [4, 5],
          [5, 6],
        ],
      ],
    });
    const second = (value: unknown) => [
      [null, null],
      [value, null, null],
    ];
    expect(feature!.properties.coordinateProperties).toEqual({
      heart: [
        [100, null],
        [101, null, 102],
      ],
      cads: second(80),
      sensorStates: second("Present"),
      distances: second(5.5),
      cadenceSensors: second("Bike"),
      speeds: second(2.5),
      runCads: second(70),
      watts: second(210),
    });
  });

  test("trackpoints without a position are left out, with their number; a track without any is not a line", async () => {
    const { layers, context } = await readTcx(
      tcxDocument(
        activity(
          lap(
            `<Track>${point(null, null, "<Time>2026-05-01T08:00:00Z</Time>")}${point(1, 2)}${point("x", 2)}${point(3, 4)}</Track><Track>${point(null, null)}</Track>`,
          ),
        ),
      ),
    );
    expect(layers[0]!.features[0]!.geometry).toEqual({
      type: "LineString",
      coordinates: [
        [1, 2],
        [3, 4],
      ],
    });
    expect(layers[0]!.features[0]!.properties.coordinateProperties).toBeUndefined();
    expect(losses(context)).toEqual([["point-without-place", undefined, 3]]);
  });

  test("a lap without any position has no geometry, and the values of all its trackpoints", async () => {
    const { layers, context } = await readTcx(
      tcxDocument(
        activity(
          lap(
            `<Track>${point(null, null, "<HeartRateBpm><Value>90</Value></HeartRateBpm>")}${point(null, null)}</Track>`,
          ) + lap("<Calories>3</Calories>"),
        ),
      ),
    );
    expect(layers[0]!.features.map(({ geometry }) => geometry)).toEqual([null, null]);
    expect(layers[0]!.features[0]!.properties.trackpoints).toEqual({ heart: [90, null] });
    expect(layers[0]!.features[1]!.properties.calories).toBe(3);
    expect(losses(context)).toEqual([]);
  });

  test("a lap of one point is a point, or a line with shortLines", async () => {
    const document = tcxDocument(activity(lap(`<Track>${point(1, 2)}</Track>`)));
    expect((await featuresIn(document))[0]!.geometry).toEqual({ type: "Point", coordinates: [1, 2] });
    expect((await featuresIn(document, { shortLines: "yes" }))[0]!.geometry).toEqual({
      type: "LineString",
      coordinates: [[1, 2]],
    });
  });

  test("elements of other namespaces become fields, repeated ones lists, and altitudes that are no numbers are lost", async () => {
    const { layers, context } = await readTcx(
      tcxDocument(
        activity(
          lap(
            `<Track>${point(1, 2, '<AltitudeMeters>high</AltitudeMeters><Extensions><m:temp unit="C">21.5</m:temp></Extensions>')}${point(2, 3)}</Track><Extensions><m:Weather><m:wind>3</m:wind><m:gust>5</m:gust><m:gust>6</m:gust></m:Weather><Foo><BarBaz>x</BarBaz></Foo></Extensions>`,
          ),
        ),
        `xmlns="${garminNamespace}" xmlns:m="urn:mine"`,
      ),
    );
    expect(layers[0]!.features[0]!.properties).toMatchObject({
      m_Weather_m_wind: 3,
      m_Weather_m_gust: ["5", "6"],
      foo_barBaz: "x",
      coordinateProperties: { m_temp_units: ["C", null], m_temps: [21.5, null] },
    });
    expect(losses(context)).toEqual([["height-invalid", undefined, 1]]);
  });

  test("sessions of several sports have an id, and transitions are laps of them", async () => {
    const features = await featuresIn(
      tcxDocument(
        `<Activities><MultiSportSession><Id>2026-06-01T06:00:00Z</Id><FirstSport><Activity Sport="Other"><Id>s1</Id>${lap("<Calories>1</Calories>")}</Activity></FirstSport><NextSport><Transition StartTime="2026-06-01T07:00:00Z"><Calories>2</Calories></Transition><Activity Sport="Biking"><Id>s2</Id>${lap("<Calories>3</Calories>")}</Activity></NextSport><Notes>race</Notes></MultiSportSession><Activity Sport="Running"><Id>s3</Id>${lap("<Calories>4</Calories>")}</Activity></Activities>`,
      ),
    );
    expect(
      features.map(({ properties: p }) => [p._tcxType, p.sport, p.activityId, p.sessionId, p.sessionNotes, p.calories]),
    ).toEqual([
      ["lap", "Other", "s1", "2026-06-01T06:00:00Z", "race", 1],
      ["transition", undefined, undefined, "2026-06-01T06:00:00Z", "race", 2],
      ["lap", "Biking", "s2", "2026-06-01T06:00:00Z", "race", 3],
      ["lap", "Running", "s3", undefined, undefined, 4],
    ]);
  });
});

describe("courses", () => {
  const course = (laps: string) =>
    `<Courses><Course><Name>Round</Name>${laps}<Track>${point(1, 2)}${point(2, 3)}</Track><CoursePoint><Name>Top</Name><Time>2026-05-01T08:00:00Z</Time><Position><LatitudeDegrees>3</LatitudeDegrees><LongitudeDegrees>2</LongitudeDegrees></Position><AltitudeMeters>900</AltitudeMeters><PointType>Summit</PointType></CoursePoint><CoursePoint><Name>Nowhere</Name></CoursePoint></Course></Courses>`;
  const courseLap = (seconds: number) =>
    `<Lap><TotalTimeSeconds>${seconds}</TotalTimeSeconds><BeginPosition><LatitudeDegrees>2</LatitudeDegrees><LongitudeDegrees>1</LongitudeDegrees></BeginPosition></Lap>`;

  test("courses are lines with the values of their lap, and course points are points; one without a position is rejected", async () => {
    const document = tcxDocument(course(courseLap(60)));
    const { layers, context } = await readTcx(document);
    expect(layers[0]!.features).toEqual([
      {
        type: "Feature",
        geometry: {
          type: "LineString",
          coordinates: [
            [1, 2],
            [2, 3],
          ],
        },
        properties: { _tcxType: "course", name: "Round", totalTimeSeconds: 60, beginLatitude: 2, beginLongitude: 1 },
      },
      {
        type: "Feature",
        geometry: { type: "Point", coordinates: [2, 3, 900] },
        properties: {
          ...{ _tcxType: "coursePoint", course: "Round", name: "Top", time: "2026-05-01T08:00:00Z" },
          pointType: "Summit",
        },
      },
    ]);
    expect(context.rejects.map(({ code, place }) => [code, place])).toEqual([
      ["coordinate-invalid", { record: 3, byte: document.lastIndexOf("<CoursePoint>") }],
    ]);
  });

  test("several laps of a course are a list of objects", async () => {
    const [feature] = await featuresIn(tcxDocument(course(courseLap(60) + courseLap(70))));
    expect(feature!.properties.laps).toEqual([
      { totalTimeSeconds: 60, beginLatitude: 2, beginLongitude: 1 },
      { totalTimeSeconds: 70, beginLatitude: 2, beginLongitude: 1 },
    ]);
  });

  test("layers=kinds reads laps, courses and course points as a layer each", async () => {
    const { layers } = await readTcx(tcxDocument(activity(lap("<Calories>1</Calories>")) + course("")), {
      layers: "kinds",
      tcxType: "no",
    });
    expect(layers.map(({ name, featureCount, fields }) => [name, featureCount, Object.keys(fields)])).toEqual([
      ["laps", 1, ["sport", "activityId", "startTime", "calories"]],
      ["courses", 1, ["name"]],
      ["coursePoints", 2, ["course", "name", "time", "pointType"]],
    ]);
  });
});

describe("documents", () => {
  test("what is beside the features is reported: folders with contents, workouts, the program and unknown elements", async () => {
    const { context } = await readTcx(
      tcxDocument(
        `<Folders><History><Running Name="R"><ActivityRef><Id>1</Id></ActivityRef></Running></History></Folders>${activity(lap(""))}<Workouts><Workout Sport="Running"><Name>W</Name></Workout></Workouts><Other/><Author><Name>P</Name></Author>`,
      ),
    );
    expect(losses(context).sort()).toEqual([
      ["element-left-out", undefined, 1],
      ["element-left-out", "Folders", 1],
      ["element-left-out", "Workout", 1],
      ["metadata-left-out", undefined, 1],
    ]);
  });

  test("empty folders are nothing to report, and other namespaces are noted", async () => {
    const { context } = await readTcx(tcxDocument(`<Folders/>${activity(lap(""))}`, 'xmlns="http://example.org/tcx"'));
    expect(losses(context)).toEqual([]);
    expect(context.notices.map(({ code }) => code)).toEqual(["namespace-mistyped"]);
  });

  test.each([
    ["another root", "<gpx/>", "input-corrupt"],
    ["no activity", tcxDocument("<History><Running/></History>"), "input-not-understood"],
    ["an end that is missing", tcxDocument(activity(lap(""))).slice(0, -40), "input-truncated"],
    ["tags that do not match", tcxDocument("<Activities><Activity></Lap></Activity></Activities>"), "input-corrupt"],
    [
      "entities that expand",
      `<!DOCTYPE a [<!ENTITY a "${"x".repeat(5000)}"><!ENTITY b "${"&a;".repeat(500)}"><!ENTITY c "${"&b;".repeat(500)}">]>${tcxDocument(activity(lap("<Notes>&c;</Notes>"))).slice(22)}`,
      "input-corrupt",
    ],
    [
      "deep nesting",
      tcxDocument(activity(lap(`<Extensions>${"<a>".repeat(100_000)}${"</a>".repeat(100_000)}</Extensions>`))),
      "input-corrupt",
    ],
  ])("a document with %s is refused", async (_, document, code) => {
    await expect(readTcx(document)).rejects.toMatchObject({ code });
  });

  test("with --skip-errors, reading continues at the next lap, activity or course", async () => {
    const context = new RecordingContext(true);
    const laps = (from: number, count: number) =>
      Array.from({ length: count }, (_, k) => lap(`<Calories>${from + k}</Calories>`)).join("");
    const document = tcxDocument(
      `<Activities><Activity Sport="A"><Id>1</Id>${laps(1, 2)}<Lap><Broken></Lap>${laps(4, 1)}<Notes>n</Notes></Activity><Activity Sport="B"><Id>2</Id><Creator><Name>x</Creator></Creator>${laps(5, 1)}</Activity><Activity Sport="C"><Id>3</Id>${laps(6, 1)}</Activity></Activities>`,
    );
    const { layers } = await readTcx(document, {}, context);
    expect(
      layers[0]!.features.map(({ properties: p }) => [p.sport, p.activityId, p.activityNotes, p.calories]),
    ).toEqual([
      ["A", "1", "n", 1],
      ["A", "1", "n", 2],
      ["A", "1", "n", 4],
      ["B", "2", undefined, 5],
      ["C", "3", undefined, 6],
    ]);
    expect(context.skippedRanges).toHaveLength(2);
  });

  test.each([1, 200, 1000])("splits of %d bytes have the same features as the whole", async (size) => {
    const whole = await readTcx(sample);
    const split = await readTcx(sample, {}, new RecordingContext(), size);
    expect(split.layers).toEqual(whole.layers);
  });

  test("a document in UTF-16 has the same features", async () => {
    const text = Buffer.from(`\ufeff${sample.toString("utf8").replace("UTF-8", "UTF-16")}`, "utf16le");
    expect((await readTcx(text)).layers).toEqual((await readTcx(sample)).layers);
  });

  test("prefixes make no difference", async () => {
    const prefixed = sample
      .toString("utf8")
      .replaceAll(/<(\/?)([A-Z])/g, "<$1t:$2")
      .replace("xmlns=", "xmlns:t=");
    expect((await readTcx(prefixed)).layers).toEqual((await readTcx(sample)).layers);
  });
});

test("@tmcw/togeojson finds the same positions, times, heart rates and numbers of laps", async () => {
  const document = new DOMParser().parseFromString(sample.toString("utf8"), "text/xml");
  const judged = togeojson(document as never).features.slice(0, 2);
  const own = (await featuresIn(sample.toString("utf8"))).slice(0, 2);
  expect(own.map(({ geometry }) => geometry)).toEqual(judged.map(({ geometry }) => geometry));
  const names = ["totalTimeSeconds", "distanceMeters", "maxSpeed", "avgHeartRate", "maxHeartRate", "avgSpeed"];
  const numbers = (properties: Readonly<Record<string, unknown>>) => names.map((name) => properties[name]);
  expect(own.map(({ properties }) => numbers(properties))).toEqual(
    judged.map(({ properties }) => numbers(properties!)),
  );
  for (const [k, feature] of own.entries()) {
    const { times, heart } = feature.properties.coordinateProperties as Record<string, unknown>;
    expect({ times, heart }).toEqual(judged[k]!.properties!.coordinateProperties);
  }
});
