import { describe, expect, it } from "vitest";
import { type Area, enclosingArea } from "../../../src/crs/area.js";
import { PositionCounter } from "../../../src/crs/operations/position-counter.js";

function boxAround(...places: readonly (readonly [number, number])[]): Area {
  const tally = new PositionCounter(1);
  const positions = Float64Array.from(places.flat(), (degrees) => (degrees * Math.PI) / 180);
  for (let i = 0; i < places.length; i++) tally.add(0, positions, i);
  return tally.getBox(0).map((degrees) => Number(degrees.toFixed(9))) as unknown as Area;
}

describe("the box around positions", () => {
  it.each<[string, readonly (readonly [number, number])[], Area]>([
    [
      "west of Greenwich",
      [
        [-84, 34],
        [-75, 36],
      ],
      [-84, 34, -75, 36],
    ],
    [
      "on both sides of Greenwich",
      [
        [-5, 50],
        [2, 58],
      ],
      [-5, 50, 2, 58],
    ],
    // Unalaska and Attu: 20.6 degrees across the antimeridian, 339.4 the other way.
    [
      "on both sides of the antimeridian",
      [
        [-166.5, 53.9],
        [172.9, 52.8],
      ],
      [172.9, 52.8, -166.5, 53.9],
    ],
    [
      "all round the earth",
      [
        [-100, 0],
        [-10, 0],
        [10, 0],
        [100, 1],
      ],
      [-100, 0, 100, 1],
    ],
  ])("the bounding box of positions: %s", (_, places, expected) => {
    expect(boxAround(...places)).toEqual(expected);
  });
});

describe("the area around several", () => {
  it.each<[readonly Area[], Area]>([
    [
      [
        [10, 0, 20, 5],
        [15, 1, 30, 6],
      ],
      [10, 0, 30, 6],
    ],
    [
      [
        [10, 0, 40, 5],
        [15, 1, 30, 6],
      ],
      [10, 0, 40, 6],
    ],
    [
      [
        [170, 0, 175, 5],
        [-175, 1, -170, 6],
      ],
      [170, 0, -170, 6],
    ],
    [
      [
        [170, 0, -179, 5],
        [-175, 1, -170, 6],
      ],
      [170, 0, -170, 6],
    ],
    [
      [
        [-180, -90, 180, 90],
        [5, 1, 6, 2],
      ],
      [-180, -90, 180, 90],
    ],
    [
      [
        [-170, 0, -10, 1],
        [0, 0, 170, 1],
      ],
      [-170, 0, 170, 1],
    ],
  ])("the area around several boxes: %j", (areas, expected) => {
    expect(enclosingArea(areas)).toEqual(expected);
  });
});
