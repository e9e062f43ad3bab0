/** In settle times, before readings of the map; several, since it may be a copy that lags behind. */
export const pausesBeforeReading = [1, 2, 4];
