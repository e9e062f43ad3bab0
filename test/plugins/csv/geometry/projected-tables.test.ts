/** Tables of eastings and northings, and of degrees, in the languages that people name their columns in. */
import { writeFileSync } from "node:fs";
import { afterAll, describe, expect, test } from "vitest";
import { crsContext } from "../../../../src/crs/index.js";
import { TemporaryFolder } from "../../../support/read-layers.js";
import { geometries, properties, readText } from "../support.js";

const scratch = new TemporaryFolder();
afterAll(() => scratch.remove());

interface Said {
  readonly crs?: string;
  readonly swapXy?: boolean;
  readonly options?: Readonly<Record<string, string>>;
}

/** Reads a table as the command does with `--source-crs` and `--swap-xy`. */
async function read(content: string, { crs, swapXy = false, options = {} }: Said = {}) {
  const stated = crs === undefined ? null : await crsContext.parse(crs);
  return readText(scratch, content, options, { stated, swapXy });
}

const point = (x: number, y: number) => ({ type: "Point", coordinates: [x, y] });

describe("longitudes and latitudes in further languages", () => {
  test.each([
    "Hosszúság;Szélesség",
    "Dužina;Širina",
    "Garums;Platums",
    "Pikkus;Laius",
    "Zem. délka;Zem. šířka",
    "Dolgota;Shirota",
    "Bujur;Lintang",
  ])("degrees under %s are points", async (names) => {
    const result = await read(`id;${names}\n1;19,0402;47,4979\n2;18,2271;46,0727\n`);
    expect(geometries(result)).toEqual([point(19.0402, 47.4979), point(18.2271, 46.0727)]);
  });
});

describe("eastings and northings", () => {
  test.each([
    "Ost;Nord",
    "Rechtswert;Hochwert",
    "UTM_Ost;UTM_Nord",
    "E;N",
    "RW;HW",
    "laenge;breite",
    "Länge;Breite",
    "X [m];Y [m]",
    "Easting (m);Northing (m)",
    "x_coord;y_coord",
    "X-Koordinate;Y-Koordinate",
    "Ostwert;Nordwert",
    "UTM32_E;UTM32_N",
    "E (EPSG:25832);N (EPSG:25832)",
    "este;norte",
    "COORD_X;COORD_Y",
    "Coordenada X;Coordenada Y",
    "coordinata_x;coordinata_y",
    "est;nord",
    "oost;noord",
    "Öster;Norr",
    "øst;nord",
    "itä;pohjoinen",
    "wschód;północ",
    "východ;sever",
    "восток;север",
    "X坐标;Y坐标",
    "X座標;Y座標",
    "X좌표;Y좌표",
    "utmOst;utmNord",
  ])("eastings and northings are found: %s, in EPSG:25832", async (names) => {
    const result = await read(`Name;${names};n\na;565000;5935000;1\nb;566000;5936000;2\n`, { crs: "EPSG:25832" });
    expect(geometries(result)).toEqual([point(565000, 5935000), point(566000, 5936000)]);
    expect(properties(result)).toEqual([
      { Name: "a", n: 1 },
      { Name: "b", n: 2 },
    ]);
  });

  test("the northing may precede the easting", async () => {
    const result = await read("Nord;Ost\n5935000;565000\n", { crs: "EPSG:25832" });
    expect(geometries(result)).toEqual([point(565000, 5935000)]);
  });

  test("the height column is found by the names of the easting and northing", async () => {
    const result = await read("X [m];Y [m];Z [m]\n565000;5935000;12,5\n", { crs: "EPSG:25832" });
    expect(geometries(result)).toEqual([{ type: "Point", coordinates: [565000, 5935000, 12.5] }]);
  });

  test.each([
    ["565.000,25", "5.935.000,75", 565000.25, 5935000.75],
    ["565 000,25", "5 935 000,75", 565000.25, 5935000.75],
    ["565'000.25", "5'935'000.75", 565000.25, 5935000.75],
    ["565.000", "5.935.000", 565000, 5935000],
    ["565000,25", "5935000,75", 565000.25, 5935000.75],
  ])("the easting or northing %s %s is a number", async (x, y, easting, northing) => {
    const result = await read(`n;Rechtswert;Hochwert\n1;${x};${y}\n`, { crs: "EPSG:25832" });
    expect(geometries(result)).toEqual([point(easting, northing)]);
  });

  test("X is the northing, with a notice, if only that order puts the positions in Germany", async () => {
    // Gauss-Krüger has X for the Hochwert: Munich's Frauenkirche in zone 4.
    const result = await read("X,Y\n5333500.5,4468100.5\n", { crs: "EPSG:31468" });
    expect(geometries(result)).toEqual([point(4468100.5, 5333500.5)]);
    expect(result.recording.notices).toMatchObject([{ code: "coordinate-order" }]);
  });

  test("X is the easting, with a notice, if both orders fit (Poland)", async () => {
    const result = await read("X,Y\n640000.5,480000.5\n", { crs: "EPSG:2180" });
    expect(geometries(result)).toEqual([point(640000.5, 480000.5)]);
    expect(result.recording.notices).toMatchObject([{ code: "coordinate-order", example: /x=Y --in y=X/ }]);
  });

  test("with --swap-xy, the columns are used by their names", async () => {
    const result = await read("X,Y\n5333500.5,4468100.5\n", { crs: "EPSG:31468", swapXy: true });
    expect(geometries(result)).toEqual([point(5333500.5, 4468100.5)]);
    expect(result.recording.notices).toEqual([]);
  });

  test("of two pairs of columns, the one in the area of use is chosen", async () => {
    const table = "lon,lat,Ost,Nord\n10,53.5,565000,5935000\n";
    expect(geometries(await read(table, { crs: "EPSG:25832" }))).toEqual([point(565000, 5935000)]);
    expect(geometries(await read(table))).toEqual([point(10, 53.5)]);
  });

  test("a notice names the pair of columns that was chosen from two candidates", async () => {
    const result = await read("x,y,lon,lat\n1,2,3,4\n");
    expect(geometries(result)).toEqual([point(3, 4)]);
    expect(result.recording.notices).toMatchObject([{ code: "coordinates-chosen", example: /"x" and "y" would do/ }]);
  });

  test("the .prj beside a table declares the CRS of its eastings and northings", async () => {
    const wkt = (await crsContext.toWkt(await crsContext.parse("EPSG:25832"), "esri"))!;
    writeFileSync(scratch.path("beside.prj"), wkt);
    const result = await readText(scratch, "E;N\n565000;5935000\n", {}, { name: "beside.csv" });
    expect(geometries(result)).toEqual([point(565000, 5935000)]);
  });
});

describe("degrees", () => {
  test.each([
    "Längengrad;Breitengrad",
    "geogr. Länge;geogr. Breite",
    "longitud;latitud",
    "longitudine;latitudine",
    "lengtegraad;breedtegraad",
    "længdegrad;breddegrad",
    "lengdegrad;breddegrad",
    "długość geograficzna;szerokość geograficzna",
    "zeměpisná délka;zeměpisná šířka",
    "долгота;широта",
    "boylam;enlem",
    "经度;纬度",
    "経度;緯度",
    "경도;위도",
    "GPS_Lon;GPS_Lat",
    "Longitude (°);Latitude (°)",
    "lon [deg];lat [deg]",
    "laenge;breite",
  ])("coordinates in degrees: %s", async (names) => {
    const result = await read(`${names};n\n9.993682;53.551086;1\n`);
    expect(geometries(result)).toEqual([point(9.993682, 53.551086)]);
    expect(properties(result)).toEqual([{ n: 1 }]);
  });

  test.each(["laenge;lat", "lon;Breite", "Longitude;breddegrad"])(
    "names in two languages are coordinates by their values: %s",
    async (names) => {
      const result = await read(`n;${names}\n1;9.993682;53.551086\n`);
      expect(geometries(result)).toEqual([point(9.993682, 53.551086)]);
    },
  );

  test("names in two languages are named as candidates where the values do not decide", async () => {
    const result = await read("n;laenge;lat\n1;10;53\n");
    expect(geometries(result)).toEqual([null]);
    expect(result.layer).toMatchObject({ likelyCoordinateFields: [["laenge", "lat"]] });
  });

  test.each([
    ["lat", "53.5", "--in x=COLUMN --in y=lat"],
    ["Rechtswert", "3565000", "--in x=Rechtswert --in y=COLUMN"],
  ])("a notice names a coordinate without a counterpart: %s", async (name, value, remedy) => {
    const result = await read(`n;${name}\n1;${value}\n`);
    expect(geometries(result)).toEqual([null]);
    expect(result.recording.notices).toMatchObject([
      { code: "coordinates-left-out", example: expect.stringContaining(`"${name}" has the name of a coordinate`) },
    ]);
    expect(result.recording.notices[0]!.example).toContain(remedy);
  });

  test.each([
    ["32U 456789 5712345", "UTM"],
    ["32T 691831.5 5337164.25", "UTM"],
    ["32UMC5678912345", "MGRS"],
    ["33U VP 12345 67890", "MGRS"],
  ])("a notice names a column of %s, which is not read", async (text, system) => {
    const result = await read(`n;Lage\n1;${text}\n`);
    expect(geometries(result)).toEqual([null]);
    expect(result.recording.notices).toMatchObject([
      { code: "coordinates-left-out", example: expect.stringContaining(`"Lage" looks like ${system} coordinates`) },
    ]);
  });

  test("a column with the name of a coordinate but without numbers needs no notice", async () => {
    const result = await read("n;lat\n1;Latvian\n");
    expect(result.recording.notices).toEqual([]);
  });

  test("three digits after a comma are decimals where thousands would be out of range", async () => {
    const result = await read("lon;lat\n9,993;53,551\n");
    expect(geometries(result)).toEqual([point(9.993, 53.551)]);
  });
});

describe("attributes stay attributes", () => {
  test.each([
    ["counts by direction", "Nord;Ost\n12;3\n7;9\n", undefined],
    ["letters with small numbers", "E;N\n1;2\n3;4\n", undefined],
    ["lengths and widths", "Länge;Breite\n12.5;3.2\n8.0;2.9\n", undefined],
    ["lengths and widths, in a system of metres", "Länge;Breite\n12.5;3.2\n8.0;2.9\n", "EPSG:25832"],
    ["letters with numbers elsewhere", "E;N\n1;2\n3;4\n", "EPSG:25832"],
    ["large counts", "E;N\n120000;340000\n130000;350000\n", undefined],
  ])("columns that stay attributes: %s", async (_, table, crs) => {
    const result = await read(table, { ...(crs ? { crs } : {}) });
    expect(geometries(result)).toEqual([null, null]);
    expect(result.layer.fields?.length).toBe(2);
  });
});
