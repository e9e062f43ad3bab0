/** A small seeded generator (mulberry32): numbers from 0 to 1, reproducible by seed. */
export function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

/** Damages bytes like disks and transfers: truncates, flips bits, zeroes a block, duplicates or removes a range. */
export function damageBytes(bytes: Buffer, random: () => number): Buffer {
  const at = () => Math.floor(random() * bytes.length);
  const copy = Buffer.from(bytes);
  switch (Math.floor(random() * 6)) {
    case 0:
      return copy.subarray(0, at());
    case 1:
      for (let n = 1 + Math.floor(random() * 8); n > 0; n--) copy[at()]! ^= 1 << Math.floor(random() * 8);
      return copy;
    case 2: {
      const from = at();
      copy.fill(0, from, Math.min(copy.length, from + Math.floor(random() * 64)));
      return copy;
    }
    case 3: {
      const from = at();
      return Buffer.concat([copy.subarray(0, from), copy.subarray(from + 1 + Math.floor(random() * 32))]);
    }
    case 4: {
      const from = at();
      return Buffer.concat([copy.subarray(0, from), copy.subarray(from, from + 40), copy.subarray(from)]);
    }
    default:
      for (let n = 1 + Math.floor(random() * 4); n > 0; n--)
        copy[Math.floor(random() * Math.min(128, copy.length))] = Math.floor(random() * 256);
      return copy;
  }
}
