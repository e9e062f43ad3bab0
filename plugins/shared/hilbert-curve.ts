/** The Hilbert curve, along which neighbors in the plane are mostly neighbors in a file. */

/**
 * Lookup table for two levels of the curve. Index: state (2 bits), column (2 bits), row (2 bits). Value: next state
 * (2 bits), position along the curve (4 bits).
 */
export const curveSteps = Uint8Array.from({ length: 64 }, (_, index) => {
  let swapped = (index >> 5) & 1;
  let turned = (index >> 4) & 1;
  let place = 0;
  for (const level of [1, 0]) {
    const column = (index >> (2 + level)) & 1;
    const row = (index >> level) & 1;
    const right = (swapped ? row : column) ^ turned;
    const above = (swapped ? column : row) ^ turned;
    place = (place << 2) | ((3 * right) ^ above);
    if (above === 1) continue;
    turned ^= right;
    swapped ^= 1;
  }
  return (((swapped << 1) | turned) << 4) | place;
});
