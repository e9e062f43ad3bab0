import { describe, expect, test } from "vitest";
import { encodeShapes, type OutputShape } from "../../plugins/shapefile/shp/encode.js";
import { ShapeType } from "../../plugins/shapefile/shp/shape-types.js";
import { transferableBuffers } from "../../src/model/batch.js";
import { donateBuffer } from "../../src/model/buffer-pool.js";
import { acquireBuffer, GeometryBuilder, releaseBuffer } from "../../src/model/index.js";

const large = 1 << 20;

describe("borrowed memory", () => {
  test("borrowed memory is used again once given back, and not before", () => {
    const first = acquireBuffer(large);
    const second = acquireBuffer(large);
    expect(second.buffer).not.toBe(first.buffer);
    expect(releaseBuffer(first.buffer)).toBe(true);
    expect(acquireBuffer(large - 100).buffer).toBe(first.buffer);
  });

  test("borrowed memory cannot be given back twice, nor can what was not borrowed", () => {
    const bytes = acquireBuffer(large);
    expect(releaseBuffer(bytes.buffer)).toBe(true);
    expect(releaseBuffer(bytes.buffer)).toBe(false);
    expect(releaseBuffer(new ArrayBuffer(large))).toBe(false);
  });

  test("borrowed memory is transferred to another thread instead of being copied, even if its view is shorter", () => {
    const bytes = acquireBuffer(large);
    expect(bytes.byteLength).toBeLessThan(bytes.buffer.byteLength);
    expect(transferableBuffers({ bytes })).toEqual([bytes.buffer]);
  });

  test("borrowed memory is found in any transferable message", () => {
    const chunks = [acquireBuffer(large), acquireBuffer(large), acquireBuffer(large)] as const;
    const sent = { named: new Map([["a", { bytes: chunks[0] }]]), set: new Set([chunks[1]]), list: [[chunks[2]]] };
    expect(transferableBuffers(sent)).toEqual(chunks.map(({ buffer }) => buffer));
  });

  test("borrowed memory waits in no more than 8 MiB", () => {
    const buffers = Array.from({ length: 20 }, () => new ArrayBuffer(large));
    for (const buffer of buffers) donateBuffer(buffer);
    const again = new Set(Array.from({ length: 20 }, () => acquireBuffer(large).buffer));
    expect(buffers.filter((buffer) => again.has(buffer))).toHaveLength(8);
  });

  test("borrowed memory leaves no trace of its last use in a chunk", () => {
    const builder = new GeometryBuilder();
    for (let i = 0; i < 30_000; i++) {
      if (i % 3 === 0) builder.addNull();
      else builder.addPoint(i, -i);
    }
    const shape: OutputShape = { type: ShapeType.point, plain: ShapeType.point, z: false, m: false };
    const geometry = builder.finish();
    const encode = (filler: number) => {
      const dirty = acquireBuffer(2 * large);
      dirty.fill(filler);
      releaseBuffer(dirty.buffer);
      const { bytes } = encodeShapes(geometry, shape);
      const copy = Buffer.from(bytes);
      expect(bytes.buffer).toBe(dirty.buffer);
      releaseBuffer(bytes.buffer);
      return copy;
    };
    expect(encode(0xab).equals(encode(0x00))).toBe(true);
  });
});
