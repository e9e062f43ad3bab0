/**
 * Bytes of input in a piece that a worker reads alone, about: so many that handing it over costs nothing beside the
 * work, so few that those under way at once hardly count.
 */
export const defaultSplitBytes = 1 << 21;
