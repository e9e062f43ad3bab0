/** Canonical texts and digests of features. Expected digests are from sha256sum(1). */
import { describe, expect, test } from "vitest";
import { canonicalFeature, defaultRounding, digestText } from "../../../src/canonical/canonical-feature.js";
import { Fingerprint } from "../../../src/remote/snapshot/snapshot-stats.js";

const text = (json: string) => canonicalFeature(JSON.parse(json), defaultRounding);

describe("canonicalFeature", () => {
  test("canonicalFeature sorts names on all levels, omits null properties and rounds coordinates to integers", () => {
    const feature =
      '{"geometry":{"coordinates":[12.5,-0.0000033],"type":"Point"},"properties":{"é\\"":"x\\ny","b":[1,{"d":-0,"c":null}],"n":null,"a":1.0}}';
    expect(text(feature)).toBe('Point(125000000 -33)\n{"a":1,"b":[1,{"c":null,"d":0}],"é\\"":"x\\ny"}');
  });

  test("the member order does not depend on earlier features", () => {
    const of = (properties: string) => text(`{"geometry":null,"properties":${properties}}`);
    expect(of('{"b":1,"a":2}')).toBe('null\n{"a":2,"b":1}');
    expect(of('{"a":2,"b":1}')).toBe('null\n{"a":2,"b":1}');
    expect(of('{"a":2}')).toBe('null\n{"a":2}');
    expect(of('{"a":2,"c":1}')).toBe('null\n{"a":2,"c":1}');
    expect(of('{"__proto__":{"x":1},"B":true,"a":"é"}')).toBe('null\n{"B":true,"__proto__":{"x":1},"a":"é"}');
    expect(text('{"geometry":null,"properties":null}')).toBe("null\n{}");
  });

  test("canonicalFeature rounds heights to millimetres, removes the sign of zero and includes the parts of collections", () => {
    const geometry =
      '{"type":"GeometryCollection","geometries":[{"type":"Point","coordinates":[-0,-1e-9,1.2345]},{"type":"LineString","coordinates":[[0,0],[1,2]]}]}';
    expect(text(`{"geometry":${geometry},"properties":{}}`)).toBe(
      "GeometryCollection(Point(0 0 1235);LineString[(0 0)(10000000 20000000)])\n{}",
    );
  });
});

test("a digest is the first half of a SHA-256", () => {
  expect(digestText('Point(125000000 -33)\n{"a":1,"b":[1,{"c":null,"d":0}],"é\\"":"x\\ny"}')).toBe(
    "d6058752ee1c45fae647a3193b39520a",
  );
});

test("a fingerprint is the XOR of its members, in any order", () => {
  const digest = "000102030405060708090a0b0c0d0e0f";
  const [one, two] = ["00000000-0000-7000-8000-000000000001", "00000000-0000-7000-8000-000000000002"] as const;
  const fingerprint = new Fingerprint();
  expect(fingerprint.toString()).toBe("0".repeat(32));
  fingerprint.toggle(one, digest);
  expect(fingerprint.toString()).toBe("b2dc3fb6f5bdcbe2268b22e3724182b4");
  fingerprint.toggle(two, digest);
  expect(new Fingerprint(fingerprint.toString()).toString()).toBe("e9b7ef6f87052af9dd153bcd45246990");
  fingerprint.toggle(one, digest);
  expect(fingerprint.toString()).toBe("5b6bd0d972b8e11bfb9e192e3765eb24");
});
