/**
 * Approximate size in bytes of the input that a worker reads as one unit: large enough that the cost of dispatching it
 * is negligible, small enough that the splits in progress need little memory.
 */
export const defaultSplitBytes = 1 << 21;
