import { describe, expect, it } from "vitest";
import { hasSameCoordinates } from "../../../src/crs/definitions/definition.js";
import { resolveDefinition } from "../../../src/crs/definitions/parse.js";
import {
  areaOfUse,
  crsContext,
  findOperation,
  geographicConversion,
  hasSameDefinition,
  isWgs84,
} from "../../../src/crs/index.js";
import { buildTransform } from "../../../src/crs/operations/transform.js";
import { operationText } from "../operation-text.js";
import { hasProj, needsProj, srsInfo } from "../proj-tools.js";

const { parse, wgs84 } = crsContext;

describe("codes", () => {
  const spellings: [string, string][] = [
    ["EPSG:25832", "EPSG:25832"],
    ["epsg:25832", "EPSG:25832"],
    ["EPSG::25832", "EPSG:25832"],
    ["25832", "EPSG:25832"],
    ["urn:ogc:def:crs:EPSG::25832", "EPSG:25832"],
    ["urn:ogc:def:crs:EPSG:9.8:25832", "EPSG:25832"],
    ["urn:x-ogc:def:crs:EPSG:25832".replace("EPSG:", "EPSG::"), "EPSG:25832"],
    ["urn:x-ogc:def:crs:EPSG:25832", "EPSG:25832"],
    ["urn:ogc:def:crs:OGC:CRS84", "EPSG:4326"],
    ["http://www.opengis.net/def/crs/EPSG/0/25832", "EPSG:25832"],
    ["https://www.opengis.net/def/crs/EPSG/0/25832", "EPSG:25832"],
    ["http://www.opengis.net/gml/srs/epsg.xml#25832", "EPSG:25832"],
    ["+init=epsg:25832", "EPSG:25832"],
    ["ESRI:102100", "ESRI:102100"],
    ["EPSG:54030", "ESRI:54030"],
    ["EPSG:4326", "EPSG:4326"],
    ["urn:ogc:def:crs:OGC:1.3:CRS84", "EPSG:4326"],
    ["urn:ogc:def:crs:OGC::CRS84", "EPSG:4326"],
    ["http://www.opengis.net/def/crs/OGC/1.3/CRS84", "EPSG:4326"],
    ["OGC:CRS84", "EPSG:4326"],
    ["CRS84", "EPSG:4326"],
    ["WGS84", "EPSG:4326"],
  ];
  for (const [text, id] of spellings) {
    it(text, async () => expect((await parse(text)).id).toBe(id));
  }

  it("every name of WGS 84 gives the same system", async () => {
    for (const text of ["EPSG:4326", "CRS84", " WGS 84\n"]) expect(await parse(text)).toBe(wgs84);
    expect(isWgs84(await parse("OGC:CRS84"))).toBe(true);
    expect(hasSameDefinition(await parse("OGC:CRS84"), wgs84)).toBe(true);
    expect(hasSameDefinition(await parse("EPSG:4258"), wgs84)).toBe(false);
  });

  it("kinds of systems are recognized, also compound and geocentric ones", async () => {
    expect(await parse("EPSG:7415")).toMatchObject({ id: "EPSG:7415", kind: "projected" });
    expect(await parse("EPSG:4979")).toMatchObject({ id: "EPSG:4979", kind: "geographic" });
    expect((await parse("EPSG:4978")).kind).toBe("other");
  });

  it("the horizontal part of a compound code is used, with a note that heights are unchanged", async () => {
    for (const text of [
      "EPSG:27700+5701",
      "epsg:27700+EPSG:5701",
      "urn:ogc:def:crs,crs:EPSG::27700,crs:EPSG::5701",
      "urn:ogc:def:crs,crs:EPSG:9.8:27700,crs:EPSG:9.8:5701",
      "http://www.opengis.net/def/crs-compound?1=http://www.opengis.net/def/crs/EPSG/0/27700&2=http://www.opengis.net/def/crs/EPSG/0/5701",
    ]) {
      const crs = await parse(text);
      expect(crs, text).toMatchObject({
        id: null,
        kind: "projected",
        name: "OSGB36 / British National Grid + EPSG:5701",
      });
      const operation = await findOperation(crs, wgs84);
      expect(await operationText(operation)).toMatch(/heights are copied unchanged.*EPSG:5701, is dropped/);
      expect(operation.transformations).toEqual(
        (await findOperation(await parse("EPSG:27700"), wgs84)).transformations,
      );
    }
    expect((await findOperation(await parse("EPSG:4326+5773"), wgs84)).kind).toBe("identity");
    await expect(parse("EPSG:7415+5709")).rejects.toMatchObject({ code: "crs-unknown" });
  });

  it("unknown codes and text that is not a definition are refused with a reason", async () => {
    await expect(parse("EPSG:999999")).rejects.toMatchObject({ code: "crs-unknown" });
    await expect(parse("EPSG:999999")).rejects.toThrow("no such code");
    await expect(parse("")).rejects.toMatchObject({ code: "crs-unknown" });
    await expect(parse("<!DOCTYPE html><html><head></head></html>")).rejects.toMatchObject({ code: "crs-unknown" });
    await expect(parse('GEOGCS["GCS_WGS_1984",DATUM["D_WGS_1984"')).rejects.toThrow("brackets");
    await expect(parse('GEOGCS["x"]')).rejects.toThrow("completely");
    await expect(parse("+proj=longlat +datum=nonsense")).rejects.toMatchObject({ code: "crs-unknown" });
  });

  it("a system is parsed again from its own definition, on any thread", async () => {
    for (const text of ["EPSG:25832", "urn:ogc:def:crs:EPSG::3857", "+proj=utm +zone=33 +datum=WGS84"]) {
      const crs = await parse(text);
      expect(await parse(structuredClone(crs).definition)).toEqual(crs);
    }
  });
});

const utm33 =
  'PROJCS["WGS_1984_UTM_Zone_33N",GEOGCS["GCS_WGS_1984",DATUM["D_WGS_1984",SPHEROID["WGS_1984",6378137.0,298.257223563]],PRIMEM["Greenwich",0.0],UNIT["Degree",0.0174532925199433]],PROJECTION["Transverse_Mercator"],PARAMETER["False_Easting",500000.0],PARAMETER["False_Northing",0.0],PARAMETER["Central_Meridian",15.0],PARAMETER["Scale_Factor",0.9996],PARAMETER["Latitude_Of_Origin",0.0],UNIT["Meter",1.0]]';
const wgs84Prj =
  'GEOGCS["GCS_WGS_1984",DATUM["D_WGS_1984",SPHEROID["WGS_1984",6378137,298.257223563]],PRIMEM["Greenwich",0],UNIT["Degree",0.017453292519943295]]';

describe("ESRI WKT without an authority", () => {
  it("ESRI WKT without an authority gets its code if name and parameters agree", async () => {
    expect((await parse(utm33)).id).toBe("EPSG:32633");
    expect(await parse(wgs84Prj)).toBe(wgs84);
    expect((await parse(`\uFEFF${utm33}\r\n\0`)).id).toBe("EPSG:32633");
    expect((await parse(utm33.toUpperCase())).id).toBe("EPSG:32633");
    expect((await parse(utm33.replaceAll(",", ",\n    "))).id).toBe("EPSG:32633");
    expect((await parse(utm33.replaceAll("[", "(").replaceAll("]", ")"))).id).toBe("EPSG:32633");
  });

  it("ESRI WKT with contradicting name and parameters gets no code, and the parameters are used", async () => {
    const moved = await parse(utm33.replace("500000.0", "500100.0"));
    expect(moved.id).toBeNull();
    expect(hasSameDefinition(moved, await parse("EPSG:32633"))).toBe(false);
    const wrongCode = await parse(
      wgs84Prj.replace("6378137,298.257223563", "6378388,297").replace(/]$/, ',AUTHORITY["EPSG","4326"]]'),
    );
    expect(wrongCode.id).toBeNull();
  });

  it("ESRI WKT of equal-area maps of a sphere, a rotated map with negative azimuth, and an airport's map is parsed", async () => {
    const atlas =
      'PROJCS["US_National_Atlas_Equal_Area",GEOGCS["GCS_Sphere_Clarke_1866_Authalic",DATUM["D_Sphere_Clarke_1866_Authalic",SPHEROID["Sphere_Clarke_1866_Authalic",6370997.0,0.0]],PRIMEM["Greenwich",0.0],UNIT["Degree",0.0174532925199433]],PROJECTION["Lambert_Azimuthal_Equal_Area"],PARAMETER["False_Easting",0.0],PARAMETER["False_Northing",0.0],PARAMETER["Central_Meridian",-100.0],PARAMETER["Latitude_Of_Origin",45.0],UNIT["Meter",1.0]]';
    const found = await parse(atlas);
    expect(found.id).toBe("EPSG:2163");
    expect(await crsContext.toWkt(found, "esri")).toBe(atlas);
    expect(await crsContext.toWkt(found, "wkt2")).toContain(
      'METHOD["Lambert Azimuthal Equal Area (Spherical)",ID["EPSG",1027]]',
    );
    const nad83 =
      'GEOGCS["GCS_North_American_1983",DATUM["D_North_American_1983",SPHEROID["GRS_1980",6378137.0,298.257222101]],PRIMEM["Greenwich",0.0],UNIT["Degree",0.0174532925199433]]';
    const airport = `PROJCS["HJAIA_AirportGrid_2Mar10",${nad83},PROJECTION["Local"],PARAMETER["False_Easting",11233.741],PARAMETER["False_Northing",3076.34],PARAMETER["Scale_Factor",1.000047],PARAMETER["Azimuth",-0.01935],PARAMETER["Longitude_Of_Center",-84.4306922136],PARAMETER["Latitude_Of_Center",33.6340844042],UNIT["Foot_US",0.3048006096012192]]`;
    expect((await parse(airport)).id).toBe("ESRI:102460");
    const alaska = `PROJCS["NAD_1983_StatePlane_Alaska_1_FIPS_5001_Feet",${nad83},PROJECTION["Hotine_Oblique_Mercator_Azimuth_Natural_Origin"],PARAMETER["False_Easting",16404166.66666666],PARAMETER["False_Northing",-16404166.66666666],PARAMETER["Scale_Factor",0.9999],PARAMETER["Azimuth",-36.86989764583333],PARAMETER["Longitude_Of_Center",-133.6666666666667],PARAMETER["Latitude_Of_Center",57.0],UNIT["Foot_US",0.3048006096012192]]`;
    expect((await parse(alaska)).id).toBe("ESRI:102631");
  });

  it("ESRI WKT of a custom system on a known datum is transformed", async () => {
    const own = await parse(
      'PROJCS["Own",GEOGCS["GCS_North_American_1983",DATUM["D_North_American_1983",SPHEROID["GRS_1980",6378137.0,298.257222101]],PRIMEM["Greenwich",0.0],UNIT["Degree",0.0174532925199433]],PROJECTION["Transverse_Mercator"],PARAMETER["False_Easting",0.0],PARAMETER["False_Northing",0.0],PARAMETER["Central_Meridian",-71.5],PARAMETER["Scale_Factor",1.0],PARAMETER["Latitude_Of_Origin",41.0],UNIT["Meter",1.0]]',
    );
    expect(own.id).toBeNull();
    expect((await findOperation(own, wgs84, { accuracy: 5 })).accuracy).toBe(4);
    const onNad27 = own.definition
      .replaceAll("North_American_1983", "North_American_1927")
      .replace('"GRS_1980",6378137.0,298.257222101', '"Clarke_1866",6378206.4,294.9786982');
    await expect(findOperation(await parse(onNad27), wgs84, { accuracy: 0.5 })).rejects.toMatchObject({
      code: "crs-no-operation",
    });
  });

  it("ESRI WKT of Massachusetts Mainland, GDA94 with a numeric code, and NAD27 as in GDAL is parsed", async () => {
    const massachusetts =
      'PROJCS["NAD_1983_StatePlane_Massachusetts_Mainland_FIPS_2001",GEOGCS["GCS_North_American_1983",DATUM["D_North_American_1983",SPHEROID["GRS_1980",6378137.0,298.257222101]],PRIMEM["Greenwich",0.0],UNIT["Degree",0.0174532925199433]],PROJECTION["Lambert_Conformal_Conic"],PARAMETER["False_Easting",200000.0],PARAMETER["False_Northing",750000.0],PARAMETER["Central_Meridian",-71.5],PARAMETER["Standard_Parallel_1",41.71666666666667],PARAMETER["Standard_Parallel_2",42.68333333333333],PARAMETER["Latitude_Of_Origin",41.0],UNIT["Meter",1.0]]';
    // EPSG:26986 names the parallels the other way round, which is the same map.
    expect((await parse(massachusetts)).id).toBe("EPSG:26986");
    const gda =
      'GEOGCS["GCS_GDA_1994",DATUM["D_GDA_1994",SPHEROID["GRS_1980",6378137.0,298.257222101]],PRIMEM["Greenwich",0.0],UNIT["Degree",0.0174532925199433],AUTHORITY["EPSG",4283]]';
    expect((await parse(gda)).id).toBe("EPSG:4283");
    const nad27 =
      'GEOGCS["NAD27",DATUM["North_American_Datum_1927",SPHEROID["Clarke 1866",6378206.4,294.9786982139006,AUTHORITY["EPSG","7008"]],AUTHORITY["EPSG","6267"]],PRIMEM["Greenwich",0,AUTHORITY["EPSG","8901"]],UNIT["degree",0.0174532925199433,AUTHORITY["EPSG","9122"]],AUTHORITY["EPSG","4267"]]';
    expect((await parse(nad27)).id).toBe("EPSG:4267");
  });
});

const common =
  "4326 4258 4269 4283 3857 25832 32633 27700 27572 2056 31467 28992 2154 2263 5514 3035 3031 2193 31370 7415 3995 5070".split(
    " ",
  );

describe.skipIf(needsProj)("definitions written by GDAL", () => {
  for (const format of ["wkt1", "wkt2_2018", "projjson", "wkt_esri"]) {
    it(`${format} written by GDAL is read as the same system`, async () => {
      expect(hasProj).toBe(true);
      const found: (string | null)[] = [];
      const expected: (string | null)[] = [];
      for (const code of common) {
        if (format === "wkt_esri" && (code === "7415" || code === "5514")) continue;
        found.push((await parse(await srsInfo(`EPSG:${code}`, format))).id);
        expected.push(`EPSG:${code}`);
      }
      expect(found).toEqual(expected);
    });
  }
});

describe("PROJ strings", () => {
  it("PROJ strings get a code only if they match it for certain", async () => {
    expect(await parse("+proj=longlat +datum=WGS84 +no_defs")).toBe(wgs84);
    expect((await parse("+proj=utm +zone=33 +datum=WGS84 +units=m +no_defs")).id).toBe("EPSG:32633");
    expect((await parse("+proj=longlat +datum=NAD83")).id).toBe("EPSG:4269");
    expect((await parse("+proj=longlat +ellps=GRS80 +towgs84=0,0,0")).id).toBeNull();
    expect((await parse("+proj=tmerc +lat_0=0 +lon_0=9 +k=1 +x_0=3500000 +y_0=0 +ellps=bessel")).id).toBeNull();
  });

  it("PROJ strings of equal-area and orthographic maps are read as by PROJ 9.5.1, or refused", async () => {
    for (const [text, longitude, latitude, x, y] of [
      ["laea +R_A +lat_0=90 +lon_0=0", 30, 60, 1648937.994949, -2856044.385783],
      ["cea +R_A +lat_ts=30", 100, -45, 9629773.978816, -5201905.58042],
      ["cea +k_0=0.9 +lat_ts=30", 10, 50, 964862.802509, 5614050.103061],
    ] as const) {
      const operation = await findOperation(wgs84, await parse(`+proj=${text} +datum=WGS84 +units=m +no_defs`));
      const xy = Float64Array.of(longitude, latitude);
      (await buildTransform(operation))(xy, null);
      expect(xy[0], text).toBeCloseTo(x, 5);
      expect(xy[1], text).toBeCloseTo(y, 5);
    }
    await expect(findOperation(wgs84, await parse("+proj=cea +k_0=0.9 +datum=WGS84"))).rejects.toThrow("+proj=cea");
    for (const text of ["cea +lat_ts=100 +R_A", "cea +lat_ts=90", "laea +lat_0=-100", "lcc +lat_1=30 +lat_2=91"]) {
      const impossible = findOperation(wgs84, await parse(`+proj=${text} +datum=WGS84`));
      await expect(impossible, text).rejects.toThrow("no projection has +lat_");
    }
    const airport =
      "+proj=ortho +lat_0=37.6289686531 +lon_0=-122.3939412704 +alpha=27.7928209333 +k=0.9999968 +ellps=GRS80 +units=us-ft";
    const [read, registered] = await Promise.all(
      [airport, "EPSG:10622"].map(async (text) => resolveDefinition(await parse(text))),
    );
    expect(hasSameCoordinates(read!, registered!)).toBe(true);
  });

  // Expected values: pyproj with PROJ 9.9.0, Transformer.from_crs("EPSG:4326", TEXT, always_xy=True).transform(10, 45).
  it.each([
    ["+proj=eqc +datum=WGS84", 1113194.9079, 4984944.378],
    ["+proj=eqc +lat_ts=30 +datum=WGS84 +units=m", 964862.8025, 4984944.378],
    ["+proj=eqc +R=6371000", 1111949.2664, 5003771.699],
    ["+proj=eqc +a=6378137 +b=6378137", 1113194.9079, 5009377.0857],
    ["+proj=eqc +R=6371000 +datum=WGS84", 1111949.2664, 5003771.699],
    ["+proj=merc +R=6371000 +datum=WGS84", 1111949.2664, 5615231.1229],
    ["+proj=merc +R=6371000 +ellps=GRS80 +b=6350000", 1111949.2664, 5615231.1229],
    ["+proj=sinu +R=6371007.181 +datum=WGS84", 786267.7529, 5003777.3389],
    ["+proj=laea +lat_0=45 +lon_0=-100 +a=6370997 +b=6370997 +datum=WGS84", 5193167.9982, 5244337.0101],
    ["+proj=merc +a=6370997", 1111948.7428, 5615228.4788],
    ["+proj=merc +a=6378000 +f=0", 1113170.9969, 5621400.738],
    ["+proj=merc +datum=WGS84 +a=6378137 +b=6378137", 1113194.9079, 5621521.4862],
    ["+proj=longlat +datum=WGS84 +lon_0=180", -170, 45],
    ["+proj=longlat +datum=WGS84 +lon_0=-100.5", 110.5, 45],
    ["+proj=longlat +datum=WGS84 +lon_0=360", 10, 45],
    ["+proj=longlat +datum=WGS84 +pm=180 +lon_0=180", 10, 45],
  ])("%s is computed as by PROJ 9.9", async (text, x, y) => {
    const operation = await findOperation(wgs84, await parse(text), { accuracy: 999 });
    const xy = Float64Array.of(10, 45);
    (await buildTransform(operation))(xy, null);
    expect(xy[0]).toBeCloseTo(x, 3);
    expect(xy[1]).toBeCloseTo(y, 3);
  });

  // Values as above, where PROJ copies longitude and latitude between the datums.
  it.each([
    ["+proj=merc +a=6370997 +datum=WGS84", 1111948.7428, 5585036.7471],
    ["+proj=merc +b=6370997 +datum=WGS84", 1113194.9079, 5611425.887],
    ["+proj=merc +rf=300 +datum=WGS84", 1113194.9079, 5591471.4084],
    ["+proj=merc +ellps=GRS80 +rf=300", 1113194.9079, 5591471.4084],
    ["+proj=merc +a=6378000 +es=0.006", 1113170.9969, 5594314.0673],
    ["+proj=merc +a=6378000 +e=0.08", 1113170.9969, 5592506.3579],
    ["+proj=merc +a=6378000 +f=0.003", 1113170.9969, 5594354.738],
    ["+proj=merc +a=6378000 +b=6350000 +rf=300", 1113170.9969, 5591351.3057],
    ["+proj=merc +a=6378000 +b=6350000 +es=0.006", 1113170.9969, 5594314.0673],
  ])("%s is on the ellipsoid that PROJ 9.9 takes, whose datum is unknown", async (text, x, y) => {
    const crs = await parse(text);
    const xy = Float64Array.of(x, y);
    (await geographicConversion(crs))!(xy);
    expect(xy[0]).toBeCloseTo(10, 8);
    expect(xy[1]).toBeCloseTo(45, 8);
    await expect(findOperation(wgs84, crs)).rejects.toMatchObject({ code: "crs-no-operation" });
  });

  it("an ellipsoid of its own makes the datum of a PROJ string unknown, unless it is that of the datum", async () => {
    expect((await parse("+proj=utm +zone=32 +datum=WGS84 +R=6371000")).id).toBeNull();
    expect((await parse("+proj=utm +zone=32 +datum=WGS84 +R=6371000")).name).toBe("unknown / UTM zone 32N");
    expect((await parse("+proj=longlat +datum=WGS84 +R=6371000")).id).toBeNull();
    const same = "+proj=utm +zone=32 +datum=WGS84 +a=6378137 +b=6356752.314245179";
    expect((await parse(same)).id).toBe("EPSG:32632");
    expect((await parse("+proj=longlat +datum=NAD27 +a=6378206.4 +b=6356583.8")).id).toBe("EPSG:4267");
  });

  it("+lon_0 of a geographic PROJ string is a prime meridian", async () => {
    const turned = await parse("+proj=longlat +datum=WGS84 +lon_0=180");
    expect(turned.id).toBeNull();
    expect(turned.name).toBe("WGS 84 (lon_0=180)");
    for (const flavour of ["esri", "wkt1", "wkt2"] as const) {
      const back = await resolveDefinition(await parse((await crsContext.toWkt(turned, flavour))!));
      expect(back.id, flavour).toBeNull();
      expect(back.geodetic?.meridian.degrees, flavour).toBe(180);
    }
    const xy = Float64Array.of(-10, 0, 0, 0);
    (await buildTransform(await findOperation(wgs84, turned)))(xy, null);
    // PROJ 9.9: 170 and -180.
    expect([...xy]).toEqual([170, 0, -180, 0]);
    expect(await parse("+proj=longlat +datum=WGS84 +lon_0=0")).toBe(wgs84);
    expect((await parse("+proj=longlat +datum=WGS84 +lon_0=360")).id).toBe("EPSG:4326");
    await expect(parse("+proj=longlat +datum=WGS84 +lon_0=abc")).rejects.toMatchObject({ code: "crs-unknown" });
  });

  // PROJ 9.9 refuses these, too, except for +f, +es and +e beside +datum or +ellps, which it ignores.
  it.each([
    ["+a=-5 +datum=WGS84", "+a=-5"],
    ["+a=abc", "+a=abc"],
    ["+a=6378137m", "+a=6378137m"],
    ["+a=inf", "+a=inf"],
    ["+b=0 +datum=WGS84", "+b=0"],
    ["+a=6378000 +b=6400000", "+b=6400000"],
    ["+R=0 +datum=WGS84", "+R=0"],
    ["+R=-5", "+R=-5"],
    ["+rf=1 +datum=WGS84", "+rf=1"],
    ["+rf=0 +datum=WGS84", "+rf=0"],
    ["+a=6378000 +rf=0", "+rf=0"],
    ["+f=1 +datum=WGS84", "+f=1"],
    ["+a=6378000 +f=-0.003", "+f=-0.003"],
    ["+es=1 +datum=WGS84", "+es=1"],
    ["+es=-0.1 +datum=WGS84", "+es=-0.1"],
    ["+b=6370997", "+b without +a"],
    ["+rf=300", "+rf without +a"],
    ["+f=0.003 +datum=WGS84", "+f beside +datum"],
    ["+es=0.006 +ellps=GRS80", "+es beside +ellps"],
    ["+a=6378000 +e=0.08 +datum=WGS84", "+e beside +datum"],
    ["+datum=WGS84 +ellps=nonsense", "+ellps=nonsense"],
  ])("+proj=moll %s is refused", async (words, named) => {
    await expect(parse(`+proj=moll ${words}`)).rejects.toMatchObject({
      code: "crs-unknown",
      message: expect.stringContaining(named),
    });
  });

  it("PROJ strings never swap coordinates by their axis order", async () => {
    const crs = await parse("+proj=longlat +datum=WGS84 +axis=neu");
    expect((await findOperation(crs, wgs84)).kind).toBe("identity");
    await expect(findOperation(await parse("+proj=tmerc +datum=WGS84 +axis=wsu"), wgs84)).rejects.toThrow("axis=wsu");
  });
});

describe("areas of use", () => {
  it("areas of use are west, south, east, north", async () => {
    expect(await areaOfUse(await parse("EPSG:25832"))).toEqual([6, 36.53, 12.01, 84.01]);
    expect(await areaOfUse(wgs84)).toEqual([-180, -90, 180, 90]);
    // New Zealand lies on both sides of the antimeridian.
    const [west, , east] = (await areaOfUse(await parse("EPSG:2193")))!;
    expect(west).toBe(166.37);
    expect(east).toBe(178.63);
    expect(await areaOfUse(await parse("+proj=tmerc +ellps=bessel +lon_0=9"))).toBeNull();
  });
});
